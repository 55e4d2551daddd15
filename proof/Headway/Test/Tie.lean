module
public import Headway.Redundant
public import Headway.Scoreboard
@[expose] public noncomputable section

/-!
# The tie with the tool: how a program of the tool is written here

`scripts/proof tie` writes random programs of the tool, with inputs, as terms of this development, and lets the kernel compute what
each instance requires and what the compiled code waits for; both must be the thresholds that the tool's `headway.spec.required`
computes. Engines, counters, instructions, buffers and control sites are numbered; control values are a table.
-/

set_option autoImplicit false

namespace Headway.Tie

/-- Control values from a table of site, iterations (innermost first) and value. -/
def control : List (Nat × List Nat × Nat) → Control
  | [], _, _ => 0
  | (k, v, n) :: t, k', v' => if k = k' ∧ v = v' then n else control t k' v'

/-- Reads and writes of the instructions 0, 1, 2, … -/
def accesses (t : List (List (Nat × Slot) × List (Nat × Slot))) : Accesses :=
  ⟨fun i => (t.getD i ([], [])).1, fun i => (t.getD i ([], [])).2⟩

/-- The hardware orders instances on a serial counter, and those of an engine after its control reads. -/
def ordered (serial : List Nat) (controlReads : List (Nat × Nat)) (c : Instance Nat Nat) (q : Nat) : Bool :=
  (serial.contains q && decide (c.counter = some q)) || controlReads.contains (c.engine, q)

/-- A stream as a table: instruction, and its threshold on each counter where it needs a wait. -/
def table (order : Instance Nat Nat → Nat → Bool) (counters : List Nat) (s : Stream Nat Nat) :
    List (Nat × List Nat) :=
  s.map (fun x => (x.1.instr, counters.map (fun q => if order x.1 q then 0 else x.2 q)))

/-- What the specification requires, per engine. -/
def specification (P : Program Nat Nat) (A : Accesses) (ω : Control) (order : Instance Nat Nat → Nat → Bool)
    (engines counters : List Nat) : List (List (Nat × List Nat)) :=
  engines.map (fun e => table order counters (requiredStreams A.depends (unroll ω P []) e))

/-- What the compiled code waits for, per engine. -/
def compiled (P : Program Nat Nat) (A : Accesses) (whole : List Nat) (ω : Control)
    (order : Instance Nat Nat → Nat → Bool) (engines counters : List Nat) : List (List (Nat × List Nat)) :=
  engines.map (fun e => table order counters
    (stream ω e (compile (scoreboard A (fun b => whole.contains b) P) e P)))

end Headway.Tie
end
