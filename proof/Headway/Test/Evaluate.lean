module
public import Headway.Scoreboard
public import Headway.Judge
public import Init.System.IO
@[expose] public section

/-!
# The tie, executable

The definitions of this development are for proofs: the WebAssembly build of Lean ships no executable code of the library's list
functions, so it cannot run them. Here are copies of them that use nothing but functions of their own, line by line the same. That they are
is not proved; the kernel computes the examples from the definitions themselves. Lean's interpreter runs the copies on a thousand programs
in the time in which the kernel reduces a few.

`scripts/proof tie` writes one case a line, as numbers: a program, its reads and writes, the control values of a run and the order that
the hardware keeps, and thresholds that strategies of the tool have placed. `answer` says in numbers what its instances require and what
their compiled code waits for, and whether each of the placements is exact. About the reading
and writing of numbers nothing is proved: a case that is read wrongly gives thresholds that are not the tool's.
-/

set_option autoImplicit false

namespace Headway.Evaluate

variable {α β : Type}

/-! ## Lists -/

def append : List α → List α → List α
  | [], m => m
  | x :: t, m => x :: append t m

def map (f : α → β) : List α → List β
  | [] => []
  | x :: t => f x :: map f t

def flatMap (f : α → List β) : List α → List β
  | [] => []
  | x :: t => append (f x) (flatMap f t)

def any (f : α → Bool) : List α → Bool
  | [] => false
  | x :: t => f x || any f t

def nth (d : α) : List α → Nat → α
  | [], _ => d
  | x :: _, 0 => x
  | _ :: t, n + 1 => nth d t n

def same : List Nat → List Nat → Bool
  | [], [] => true
  | x :: s, y :: t => decide (x = y) && same s t
  | _, _ => false

def isCounter : Option Nat → Nat → Bool
  | none, _ => false
  | some p, q => decide (p = q)

/-! ## The reference and what it requires -/

def sumTerms (v : List Nat) : List (Nat × Nat) → Nat
  | [] => 0
  | t :: l => t.2 * nth 0 v t.1 + sumTerms v l

def slot : Slot → List Nat → Nat
  | .const c, _ => c
  | .affine terms offset m, v => (sumTerms v terms + offset) % m

def iterate (f : Nat → List α) : Nat → Nat → List α
  | 0, _ => []
  | n + 1, j => append (f j) (iterate f n (j + 1))

def unroll (ω : Control) : Program Nat Nat → List Nat → List (Instance Nat Nat)
  | .skip, _ => []
  | .instr i e q, v => [⟨i, e, q, v⟩]
  | .seq a b, v => append (unroll ω a v) (unroll ω b v)
  | .branch k a b, v => if ω k v = 0 then unroll ω b v else unroll ω a v
  | .loop k s, v => iterate (fun j => unroll ω s (j :: v)) (ω k v) 0

def lastPosition (q : Nat) (f : Instance Nat Nat → Bool) : List (Instance Nat Nat) → Nat → Nat → Nat
  | [], _, m => m
  | p :: t, n, m =>
    if isCounter p.counter q then (if f p then lastPosition q f t (n + 1) (n + 1) else lastPosition q f t (n + 1) m)
    else lastPosition q f t n m

/-- The entry `x` of an access list, in the iteration `v`, is in the other list in its iteration. -/
def meets (x : Nat × Slot) (v : List Nat) (l : List (Nat × Slot)) (w : List Nat) : Bool :=
  any (fun y => decide (x.1 = y.1) && decide (slot x.2 v = slot y.2 w)) l

def conflict (A : Accesses) (p c : Instance Nat Nat) : Bool :=
  any (fun x => meets x p.iteration (A.reads c.instr) c.iteration || meets x p.iteration (A.writes c.instr) c.iteration)
    (A.writes p.instr) ||
  any (fun x => meets x p.iteration (A.writes c.instr) c.iteration) (A.reads p.instr)

def depends (A : Accesses) (p c : Instance Nat Nat) : Bool :=
  match p.counter with
  | none => false
  | some _ => conflict A p c

def stream (D : DepRel Nat Nat) (e : Nat) : List (Instance Nat Nat) → List (Instance Nat Nat) → Stream Nat Nat
  | _, [] => []
  | pre, c :: t =>
    if c.engine = e then
      (c, fun q => lastPosition q (fun p => D p c) pre 0 0) :: stream D e (append pre [c]) t
    else stream D e (append pre [c]) t

/-! ## The compiled code -/

def hits (l : List (Nat × Slot)) (v : List Nat) (key s : Nat) : Bool :=
  any (fun t => decide (t.1 = key) && decide (slot t.2 v = s)) l

def counters : Program Nat Nat → List Nat
  | .skip => []
  | .instr _ _ none => []
  | .instr _ _ (some q) => [q]
  | .seq a b => append (counters a) (counters b)
  | .branch _ a b => append (counters a) (counters b)
  | .loop _ s => counters s

def scoreboard (A : Accesses) (whole : Nat → Bool) (P : Program Nat Nat) : Deps Nat where
  touches := fun i => append (map (fun a => (2 * a.1 + 1, a.2)) (A.reads i))
    (append (map (fun a => (2 * a.1, a.2)) (A.writes i)) (map (fun a => (2 * a.1 + 1, a.2)) (A.writes i)))
  needs := fun i => flatMap (fun q =>
    append (map (fun a => ⟨q, 2 * a.1, a.2, whole a.1⟩) (A.reads i))
      (map (fun a => ⟨q, 2 * a.1 + 1, a.2, whole a.1⟩) (A.writes i))) (counters P)

def signalsOn (q : Nat) : Program Nat Nat → Bool
  | .skip => false
  | .instr _ _ p => isCounter p q
  | .seq a b => signalsOn q a || signalsOn q b
  | .branch _ a b => signalsOn q a || signalsOn q b
  | .loop _ s => signalsOn q s

def forget (s : Program Nat Nat) (st : Gaps Nat) : Gaps Nat := fun q k => if signalsOn q s then none else st q k

def meet : Option Nat → Option Nat → Option Nat
  | some x, some y => if x = y then some x else none
  | _, _ => none

def pass (d : Deps Nat) (i : Nat) (counter : Option Nat) (st : Gaps Nat) : Gaps Nat := fun q k =>
  if isCounter counter q then
    (if any (fun t => decide (t.1 = k)) (d.touches i) then some 0
      else match st q k with
        | none => none
        | some n => some (n + 1))
  else st q k

def after (d : Deps Nat) : Program Nat Nat → Gaps Nat → Gaps Nat
  | .skip, st => st
  | .instr i _ q, st => pass d i q st
  | .seq a b, st => after d b (after d a st)
  | .branch _ a b, st => fun q k => meet (after d a st q k) (after d b st q k)
  | .loop _ s, st => forget s st

def waits (st : Gaps Nat) : List (Need Nat) → Code Nat
  | [] => .nop
  | n :: t => .seq
    (match n.whole, st n.counter n.key with
      | true, some k => .waitShadow n.counter k
      | _, _ => .waitCapture n.counter n.key n.slot) (waits st t)

def code (d : Deps Nat) (e : Nat) : Program Nat Nat → Gaps Nat → Code Nat
  | .skip, _ => .nop
  | .instr i a q, st => .seq (if a = e then .seq (waits st (d.needs i)) (.issue i q) else .nop)
    (match q with
      | none => .nop
      | some q => .seq (.count q 1) (captures q (d.touches i)))
  | .seq a b, st => .seq (code d e a st) (code d e b (after d a st))
  | .branch k a b, st => .branch k (code d e a st) (code d e b st)
  | .loop k s, st => .loop k (code d e s (forget s st))
where
  captures (q : Nat) : List (Nat × Slot) → Code Nat
    | [] => .nop
    | t :: l => .seq (.capture q t.1 t.2) (captures q l)

def empty : Registers Nat := ⟨fun _ => 0, fun _ _ _ => 0⟩

def add (ρ : Registers Nat) (q k : Nat) : Registers Nat :=
  let n := ρ.shadow q + k
  ⟨fun p => if p = q then n else ρ.shadow p, ρ.capture⟩

def save (ρ : Registers Nat) (q key s : Nat) : Registers Nat :=
  let n := ρ.shadow q
  ⟨ρ.shadow, fun p k t => if decide (p = q) && (decide (k = key) && decide (t = s)) then n else ρ.capture p k t⟩

def iterateRun (f : Nat → Registers Nat → List (Effect Nat Nat) × Registers Nat) :
    Nat → Nat → Registers Nat → List (Effect Nat Nat) × Registers Nat
  | 0, _, ρ => ([], ρ)
  | n + 1, j, ρ =>
    let first := f j ρ
    let rest := iterateRun f n (j + 1) first.2
    (append first.1 rest.1, rest.2)

def run (ω : Control) (e : Nat) : Code Nat → List Nat → Registers Nat → List (Effect Nat Nat) × Registers Nat
  | .nop, _, ρ => ([], ρ)
  | .count q k, _, ρ => ([], add ρ q k)
  | .countTrip q k site, v, ρ => ([], add ρ q (k * ω site v))
  | .capture q key s, v, ρ => ([], save ρ q key (slot s v))
  | .waitCapture q key s, v, ρ => ([.wait q (ρ.capture q key (slot s v))], ρ)
  | .waitShadow q k, _, ρ => ([.wait q (ρ.shadow q - k)], ρ)
  | .issue i q, v, ρ => ([.issue ⟨i, e, q, v⟩], ρ)
  | .seq a b, v, ρ =>
    let first := run ω e a v ρ
    let second := run ω e b v first.2
    (append first.1 second.1, second.2)
  | .branch k a b, v, ρ => if ω k v = 0 then run ω e b v ρ else run ω e a v ρ
  | .loop k b, v, ρ => iterateRun (fun j => run ω e b (j :: v)) (ω k v) 0 ρ

def threshold : List (Nat × Nat) → Nat → Nat
  | [], _ => 0
  | x :: t, p => if x.1 = p then (if x.2 ≤ threshold t p then threshold t p else x.2) else threshold t p

def group : List (Nat × Nat) → List (Effect Nat Nat) → Stream Nat Nat
  | _, [] => []
  | ws, .wait q n :: t => group ((q, n) :: ws) t
  | ws, .issue c :: t => (c, threshold ws) :: group [] t

/-! ## The tables -/

def ordered (serial : List Nat) (controlReads : List (Nat × Nat)) (c : Instance Nat Nat) (q : Nat) : Bool :=
  (any (fun p => decide (q = p)) serial && isCounter c.counter q) ||
    any (fun r => decide (c.engine = r.1) && decide (q = r.2)) controlReads

def table (order : Instance Nat Nat → Nat → Bool) (counters : List Nat) (s : Stream Nat Nat) : List (Nat × List Nat) :=
  map (fun x => (x.1.instr, map (fun q => if order x.1 q then 0 else x.2 q) counters)) s

def accesses (t : List (List (Nat × Slot) × List (Nat × Slot))) : Accesses :=
  ⟨fun i => (nth ([], []) t i).1, fun i => (nth ([], []) t i).2⟩

def control : List (Nat × List Nat × Nat) → Control
  | [], _, _ => 0
  | x :: t, k, v => if decide (x.1 = k) && same x.2.1 v then x.2.2 else control t k v

def specification (P : Program Nat Nat) (A : Accesses) (ω : Control) (order : Instance Nat Nat → Nat → Bool)
    (engines counters : List Nat) : List (List (Nat × List Nat)) :=
  map (fun e => table order counters (stream (depends A) e [] (unroll ω P []))) engines

def compiled (P : Program Nat Nat) (A : Accesses) (whole : List Nat) (ω : Control)
    (order : Instance Nat Nat → Nat → Bool) (engines counters : List Nat) : List (List (Nat × List Nat)) :=
  map (fun e => table order counters
    (group [] (run ω e (code (scoreboard A (fun b => any (fun w => decide (b = w)) whole) P) e P (fun _ _ => none)) [] empty).1)) engines

/-! ## The judge -/

/-- Dependences that need a wait, and the order that the hardware keeps for an engine, which is a dependence like any other. -/
def judged (A : Accesses) (order kept : Instance Nat Nat → Nat → Bool) : DepRel Nat Nat := fun p c =>
  match p.counter with
  | none => false
  | some q => (conflict A p c && !order c q) || kept c q

def hardware (kept : Instance Nat Nat → Nat → Bool) : DepRel Nat Nat := fun p c =>
  match p.counter with
  | none => false
  | some q => kept c q

def signals (q : Nat) : List (Instance Nat Nat) → Nat
  | [] => 0
  | p :: t => if isCounter p.counter q then signals q t + 1 else signals q t

def larger (x y : Nat) : Nat := if x ≤ y then y else x

/-- `[from, from + 1, …]`, `n` numbers. -/
def range : Nat → Nat → List Nat
  | 0, _ => []
  | n + 1, i => i :: range n (i + 1)

/-- The reference with thresholds: those of the rows, one for each instance, and what the hardware keeps. -/
def annotate (n : Nat) (D : DepRel Nat Nat) :
    List (Instance Nat Nat) → List (Instance Nat Nat) → List (List Nat) → Annotated Nat Nat
  | _, [], _ => []
  | pre, c :: t, rows =>
    (c, fun q => if q < n then larger (nth 0 (nth [] rows 0) q) (lastPosition q (fun p => D p c) pre 0 0) else 0) ::
      annotate n D (append pre [c]) t (rest rows)
where
  rest : List (List Nat) → List (List Nat)
    | [] => []
    | _ :: t => t

def withRequired (D : DepRel Nat Nat) : List (Instance Nat Nat) → List (Instance Nat Nat) → Annotated Nat Nat
  | _, [] => []
  | pre, c :: t => (c, fun q => lastPosition q (fun p => D p c) pre 0 0) :: withRequired D (append pre [c]) t

def seen (signal : Nat → Nat → Nat → Nat) (k : Nat → Nat) (q : Nat) : List Nat → Nat
  | [] => k q
  | p :: t => larger (signal p (k p) q) (seen signal k q t)

/-- What `c` knows on each of `n` counters, as numbers. -/
def known (n : Nat) (κ : Knowledge Nat Nat) (c : Instance Nat Nat) (g : Nat → Nat) : List Nat :=
  let before := map (fun q => larger (κ.engine c.engine q) (g q)) (range n 0)
  map (fun q => seen κ.signal (fun p => nth 0 before p) q (range n 0)) (range n 0)

def record (κ : Knowledge Nat Nat) (c : Instance Nat Nat) (pre : List (Instance Nat Nat)) (k : List Nat) : Knowledge Nat Nat :=
  ⟨fun e q => if e = c.engine then nth 0 k q else κ.engine e q,
    match c.counter with
    | none => κ.signal
    | some p =>
      let position := signals p pre + 1
      fun p' j q => if decide (p' = p) && decide (j = position) then nth 0 k q else κ.signal p' j q⟩

/-- What each instance knows when it issues. -/
def knowledge (n : Nat) : List (Instance Nat Nat) → Knowledge Nat Nat → Annotated Nat Nat → List (List Nat)
  | _, _, [] => []
  | pre, κ, x :: t =>
    let k := known n κ x.1 x.2
    k :: knowledge n (append pre [x.1]) (record κ x.1 pre k) t

def below (n : Nat) (g : Nat → Nat) (k : List Nat) : Bool := !(any (fun q => !(decide (g q ≤ nth 0 k q))) (range n 0))

def allBelow (n : Nat) : Annotated Nat Nat → List (List Nat) → Bool
  | [], _ => true
  | x :: l, k :: t => below n x.2 k && allBelow n l t
  | _ :: _, [] => false

/-- The placement `l` is exact: all that is required is known under it, and all that it waits for is known under what is required. -/
def exact (n : Nat) (r l : Annotated Nat Nat) : Bool :=
  allBelow n r (knowledge n [] ⟨fun _ _ => 0, fun _ _ _ => 0⟩ l) && allBelow n l (knowledge n [] ⟨fun _ _ => 0, fun _ _ _ => 0⟩ r)

/-- The verdict on the waits of a placement in one run: `rows` has the thresholds of each instance of the reference. -/
def judge (P : Program Nat Nat) (A : Accesses) (ω : Control) (order kept : Instance Nat Nat → Nat → Bool) (n : Nat)
    (rows : List (List Nat)) : Bool :=
  let T := unroll ω P []
  exact n (withRequired (judged A order kept) [] T) (annotate n (hardware kept) [] T rows)

/-! ## Cases as numbers -/

def number : List Nat → Nat × List Nat
  | [] => (0, [])
  | x :: t => (x, t)

def times {α : Type} (read : List Nat → α × List Nat) : Nat → List Nat → List α × List Nat
  | 0, l => ([], l)
  | n + 1, l =>
    let first := read l
    let rest := times read n first.2
    (first.1 :: rest.1, rest.2)

def count : List Nat → Nat
  | [] => 0
  | _ :: t => count t + 1

/-- A list comes after its length. -/
def list {α : Type} (read : List Nat → α × List Nat) (l : List Nat) : List α × List Nat :=
  let n := number l
  times read n.1 n.2

def pair {α β : Type} (first : List Nat → α × List Nat) (second : List Nat → β × List Nat) (l : List Nat) :
    (α × β) × List Nat :=
  let a := first l
  let b := second a.2
  ((a.1, b.1), b.2)

/-- `fuel` is at least the number of nodes. -/
def readProgram : Nat → List Nat → Program Nat Nat × List Nat
  | 0, l => (.skip, l)
  | fuel + 1, l =>
    match l with
    | 1 :: i :: e :: q :: t => (.instr i e (some q), t)
    | 2 :: t =>
      let a := readProgram fuel t
      let b := readProgram fuel a.2
      (.seq a.1 b.1, b.2)
    | 3 :: k :: t =>
      let a := readProgram fuel t
      let b := readProgram fuel a.2
      (.branch k a.1 b.1, b.2)
    | 4 :: k :: t =>
      let a := readProgram fuel t
      (.loop k a.1, a.2)
    | _ :: t => (.skip, t)
    | [] => (.skip, [])

def readSlot : List Nat → Slot × List Nat
  | 0 :: c :: t => (.const c, t)
  | _ :: offset :: m :: t =>
    let terms := list (pair number number) t
    (.affine terms.1 offset m, terms.2)
  | t => (.const 0, t)

def text : List Nat → String
  | [] => ""
  | x :: t => " " ++ toString x ++ text t

/-- The rows of each engine; a semicolon ends them. -/
def tables : List (List (Nat × List Nat)) → String
  | [] => ""
  | rows :: t => text (flatMap (fun r => r.1 :: r.2) rows) ++ " ;" ++ tables t

def answer (line : List Nat) : String :=
  let P := readProgram 1000 line
  let A := list (pair (list (pair number readSlot)) (list (pair number readSlot))) P.2
  let whole := list number A.2
  let ω := list (pair number (pair (list number) number)) whole.2
  let serial := list number ω.2
  let reads := list (pair number number) serial.2
  let engines := list number reads.2
  let counters := list number engines.2
  let own := list number counters.2
  let placements := list (list (list number)) own.2
  let order := ordered serial.1 reads.1
  let required := specification P.1 (accesses A.1) (control ω.1) order engines.1 counters.1
  let waits := compiled P.1 (accesses A.1) whole.1 (control ω.1) order engines.1 counters.1
  let verdict := judge P.1 (accesses A.1) (control ω.1) order (ordered own.1 reads.1) (count counters.1)
  "==" ++ tables required ++ " |" ++ tables waits ++ " |" ++ text (map (fun rows => if verdict rows then 1 else 0) placements.1)

/-- The numbers of a line of digits and spaces. -/
def parse : List Char → Nat → Bool → List Nat
  | [], n, inside => if inside then [n] else []
  | c :: t, n, inside =>
    if 48 ≤ c.toNat && c.toNat ≤ 57 then parse t (n * 10 + (c.toNat - 48)) true
    else if inside then n :: parse t 0 false
    else parse t 0 false

def answers (cases : IO.FS.Handle) : Nat → IO Unit
  | 0 => pure ()
  | n + 1 => do
    let line ← cases.getLine
    if line.isEmpty then pure () else
      IO.println (answer (parse line.toList 0 false))
      answers cases n

/-- Print the answer to every line of a file of at most `n`. -/
def file (path : String) (n : Nat) : IO Unit := do
  let cases ← IO.FS.Handle.mk path .read
  answers cases n

end Headway.Evaluate
end
