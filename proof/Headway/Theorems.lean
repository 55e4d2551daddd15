module
public import Headway.Hosts
public import Headway.Terminate
public import Headway.Time
public import Headway.Memory
public import Headway.Barrier
public import Headway.Registers
public import Headway.Width
public import Headway.Control
public import Headway.While
public import Headway.Certificate
public import Headway.Epoch
@[expose] public noncomputable section

/-!
# What is proved, on one screen

For all engines `E` and counters `Q` (engines' own and DMA queues'), all programs `P`, all control values `ω` (trip counts and branches at run
time), all reads and writes `A`. `code` is the synchronized program, `T` the sequential reference, `D` the conflicts. `Machine ω code`: each engine
runs its own code on private registers. `Spec D T`: an instance issues as soon as all it conflicts with has completed.

Proofs are one line here: they are in the files named on the right. `docs/theorems.md` says it in plain words.
-/

set_option autoImplicit false

namespace Headway.Theorems

variable {E Q V : Type} [DecidableEq E] [DecidableEq Q] {host : Q → E}

/-- The synchronized program. `whole` marks buffers with one slot, where a static gap may replace a capture. -/
abbrev code (A : Accesses) (whole : Nat → Bool) (P : Program E Q) : E → Code Q := synchronized (scoreboard A whole P) P

/-- 1. The machine is weakly bisimilar to the specification. -/
theorem exact (A : Accesses) (whole : Nat → Bool) (hw : A.WholeValid whole) (P : Program E Q) (hP : P.HostedBy host)
    (ω : Control) : Bisimilar (Machine ω (code A whole P)) (Spec A.depends (unroll ω P [])) := by  -- Redundant, Scoreboard
  have h := synchronized_bisim _ (scoreboard_valid A whole P hw) ω P (hosted_unroll ω hP [])
  rwa [spec_congr (D' := A.depends) (fun p c hp => scoreboard_rel A whole P ω p c hp)] at h

/-- 2. Its schedules are exactly the correct ones: none is too early, none is lost. -/
theorem schedules (A : Accesses) (whole : Nat → Bool) (hw : A.WholeValid whole) (P : Program E Q) (hP : P.HostedBy host)
    (ω : Control) (tr : List (Event E Q)) : Traces (Machine ω (code A whole P)) tr ↔
      InOrder (unroll ω P []) tr ∧ Respects A.depends (unroll ω P []) tr :=                         -- Spec
  ((exact A whole hw P hP ω).traces tr).trans (spec_traces _ _ _)

/-- 3. It never deadlocks, -/
theorem deadlock_free (A : Accesses) (whole : Nat → Bool) (hw : A.WholeValid whole) (P : Program E Q)
    (hP : P.HostedBy host) (ω : Control) : Live (Machine ω (code A whole P)) (Done (unroll ω P [])) :=   -- Spec
  (exact A whole hw P hP ω).live (spec_live _ _ (hosted_unroll ω hP []))

/-- 4. and every run ends: no run has more steps than `remaining` at its start. -/
theorem terminates (A : Accesses) (whole : Nat → Bool) (P : Program E Q) (ω : Control) {engines : List E}
    {counters : List Q} (hn : engines.Nodup) (hm : counters.Nodup) (he : ∀ e, e ∈ engines) (hq : ∀ q, q ∈ counters)
    {n : Nat} {s : MachineState E Q} (h : Steps (Machine ω (code A whole P)) (MachineState.init (code A whole P)) n s) :
    n ≤ remaining ω engines counters (.init (code A whole P)) :=                                    -- Terminate
  Nat.le_trans (Nat.le_add_right _ _) (steps_bounded hn hm he hq h)

/-- 5. Every complete run computes the memory of the sequential program. -/
theorem sequential_result (A : Accesses) (whole : Nat → Bool) (hw : A.WholeValid whole) (P : Program E Q)
    (hP : P.HostedBy host) (ω : Control) (S : Meaning E Q (Nat × Nat) V) (hA : Describes A S) (m0 : Nat × Nat → V)
    (tr : List (Event E Q)) (h : Traces (Machine ω (code A whole P)) tr) (hd : Done (unroll ω P []) tr) :
    (execute S m0 tr).memory = sequentialMemory S m0 (unroll ω P []) :=                              -- Memory
  scoreboard_semantics A whole hw S hA m0 P ω (hosted_unroll ω hP []) tr h hd

/-- 6. Lower thresholds would be wrong: issuing below `required` is never part of a correct schedule. -/
theorem not_lower (D : DepRel E Q) {T pre post : List (Instance E Q)} {c : Instance E Q} {q : Q} {x y : List (Event E Q)}
    (hT : T = pre ++ c :: post) (hn : turns c.engine pre = issued c.engine x)
    (h : completed q x < required D pre c q) : ¬ Respects D T (x ++ .issue c :: y) :=                -- Spec
  too_early_incorrect D hT hn h

/-- 7. Higher thresholds are never faster, whatever instructions take. -/
theorem not_higher (δ : Duration E Q) (D : DepRel E Q) (T : List (Instance E Q)) (l : Annotated E Q)
    (hT : l.map Prod.fst = T) (hl : Grounded l)
    (h : ∀ (i : Nat) (c : Instance E Q) (g : Q → Nat), l[i]? = some (c, g) → ∀ q, required D (T.take i) c q ≤ g q) :
    ∀ j, j < T.length → earliestStart δ (withRequired D [] T) j ≤ earliestStart δ l j :=             -- Time
  fun j hj => (required_is_fastest δ D T l hT hl h j hj).1

/-- 8. Waits may be dropped, lowered or raised where the difference is known anyway, also through other engines. -/
theorem interval (D : DepRel E Q) {T : List (Instance E Q)} (hh : Hosted host T) (ω : Control) (other : E → Code Q)
    (hc : StreamsHosted host (fun e => stream ω e (other e)))
    (h : Acceptable host (requiredStreams D T) (fun e => stream ω e (other e))) :
    Bisimilar (Machine ω other) (Spec D T) :=                                                       -- Acceptable
  acceptable_code_bisim D hh ω other hc h

/-- 9. The barrier baseline is sound, but loses correct schedules. -/
theorem baseline (D : DepRel E Q) (ω : Control) (P : Program E Q) (tr : List (Event E Q))
    (h : Traces (Guarded (barrierStreams D ω P)) tr) :
    (InOrder (unroll ω P []) tr ∧ Respects D (unroll ω P []) tr) ∧
      ¬ Bisimilar (Guarded (barrierStreams consumes twice twoEngines)) (Spec consumes (unroll twice twoEngines [])) :=
  ⟨barrier_sound D ω P tr h, barrier_not_bisim⟩                                                    -- Barrier

/-- 10. Semaphores of `W` values, reset at epochs of fewer than `W` signals per counter, behave like unbounded ones. -/
theorem finite_width {W : Nat} (D : DepRel E Q) (l : List (Option (Instance E Q))) (hW : EpochsFit W l)
    (hh : Hosted host (withoutBarriers l)) (hs : ∀ c ∈ withoutBarriers l, c.counter.isSome = true) :
    Bisimilar (WidthMachine W D l) (Guarded (fencedStreams D l)) :=                                 -- Width
  width_bisim D l hW hh hs

/-- 11. Code that resets shadows and captures at every epoch behaves like unbounded counters with the same barriers. -/
theorem epochs {W : Nat} (A : Accesses) (whole : Nat → Bool) (hw : A.WholeValid whole) (P : Program E Q) (ω : Control)
    (parts : List (Parts E Q)) (hW : EpochsFit W (unrollEpochs ω parts))
    (hh : Hosted host (withoutBarriers (unrollEpochs ω parts)))
    (hs : ∀ c ∈ withoutBarriers (unrollEpochs ω parts), c.counter.isSome = true) :
    Bisimilar (ResetMachine W (resetStream ω (fun e s => compile (scoreboard A whole P) e s) parts)
        (barriers (scoreboard A whole P).rel (unrollEpochs ω parts)))
      (Guarded (fencedStreams (scoreboard A whole P).rel (unrollEpochs ω parts))) :=               -- Epoch
  reset_bisim _ ω (fun e => compile_faithful _ (scoreboard_valid A whole P hw) ω e) parts hW hh hs

/-- 12. A static pass may decide once for all runs which waits to keep: if assertions show that no instance issues too early or waits too
long, the code is bisimilar to the specification. -/
theorem static_pass (counters : List Q) (D : DepRel E Q) (d : Deps Q) (waits : Nat → List (StaticWait Q)) (ω : Control)
    (P : Program E Q) (hh : Hosted host (unroll ω P [])) {J : Assertion E Q}
    (h : Outline ω (Fits counters D d waits) P (fun v pre => v = [] ∧ pre = []) J) :
    Bisimilar (Machine ω (fun e => place d waits e P)) (Spec D (unroll ω P [])) :=                 -- Superfluous, Outline
  static_pass_bisim counters D d waits ω P hh h

/-- 13. A program with a certificate that is accepted, step by step, is never early in any run, -/
theorem certified (D : DepRel E Q) (ω : Control) (other : E → Code Q) (P : Joint E Q) (hh : Hosted host (unroll ω P.program []))
    (hP : Accepted D ω P) (hc : RunsParts ω other P) (tr : List (Event E Q)) (h : Traces (Machine ω other) tr) :
    InOrder (unroll ω P.program []) tr ∧ Respects D (unroll ω P.program []) tr :=                   -- Certificate
  certificate_never_early hh hP hc tr h

/-- 14. and it never deadlocks. -/
theorem certified_live (D : DepRel E Q) (ω : Control) (other : E → Code Q) (P : Joint E Q)
    (hh : Hosted host (unroll ω P.program [])) (hP : Accepted D ω P) (hc : RunsParts ω other P) :
    Live (Machine ω other) (Done (unroll ω P.program [])) :=                                        -- Certificate
  certificate_live hh hP hc

end Headway.Theorems
end
