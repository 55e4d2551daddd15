module
public import Headway.Barrier
public import Headway.Redundant
public import Headway.Scoreboard
@[expose] public noncomputable section

/-!
# Negative controls: plausible variants are wrong, with numbers

`Variant` has the places where the compiler could be got wrong. `compileWith_correct`: with the right choices it is the compiler. Each other
variant below gives, on a small program, thresholds that differ from the required ones, computed by the kernel: lower ones violate a
dependence (`too_early_incorrect`), higher ones stall (`too_late_stalls`). Ids in brackets are those of the design's counterexamples.
-/

set_option autoImplicit false

namespace Headway.Counterexamples

variable {E Q : Type} [DecidableEq E] [DecidableEq Q]

structure Variant (E Q : Type) where
  forget : Program E Q → Gaps Q → Gaps Q
  join : Gaps Q → Gaps Q → Gaps Q
  pass : Nat → Option Q → Gaps Q → Gaps Q
  signal : Nat → Option Q → Code Q

def correct (d : Deps Q) : Variant E Q :=
  ⟨fun s st => st.forget s, Gaps.join, fun i q st => st.pass d i q, passSignal d⟩

def afterWith (m : Variant E Q) : Program E Q → Gaps Q → Gaps Q
  | .skip, st => st
  | .instr i _ q, st => m.pass i q st
  | .seq a b, st => afterWith m b (afterWith m a st)
  | .branch _ a b, st => m.join (afterWith m a st) (afterWith m b st)
  | .loop _ s, st => m.forget s st

def compileWith (d : Deps Q) (m : Variant E Q) (e : E) : Program E Q → Gaps Q → Code Q
  | .skip, _ => .nop
  | .instr i a q, st => .seq (if a = e then .seq (compileNeeds st (d.needs i)) (.issue i q) else .nop) (m.signal i q)
  | .seq a b, st => .seq (compileWith d m e a st) (compileWith d m e b (afterWith m a st))
  | .branch k a b, st => .branch k (compileWith d m e a st) (compileWith d m e b st)
  | .loop k s, st => .loop k (compileWith d m e s (m.forget s st))

theorem afterWith_correct (d : Deps Q) (s : Program E Q) : ∀ st, afterWith (correct d) s st = Gaps.after d s st := by
  induction s with
  | skip => intro st; rfl
  | instr => intro st; rfl
  | seq a b iha ihb => intro st; simp only [afterWith, Gaps.after, iha, ihb]
  | branch k a b iha ihb =>
    intro st
    show (afterWith (correct d) a st).join (afterWith (correct d) b st) = _
    rw [iha, ihb]; rfl
  | loop k s _ => intro st; rfl

/-- The variant with the right choices is the compiler. -/
theorem compileWith_correct (d : Deps Q) (e : E) (s : Program E Q) :
    ∀ st, compileWith d (correct d) e s st = compileFrom d e s st := by
  induction s with
  | skip => intro st; rfl
  | instr => intro st; rfl
  | seq a b iha ihb => intro st; simp only [compileWith, compileFrom, iha, ihb, afterWith_correct]
  | branch k a b iha ihb => intro st; simp only [compileWith, compileFrom, iha, ihb]
  | loop k s ih =>
    intro st
    show Code.loop k (compileWith d (correct d) e s (st.forget s)) = _
    rw [ih]; rfl

/-- Thresholds of engine `e` on counter `q` under a variant. -/
def thresholds (d : Deps Q) (m : Variant E Q) (ω : Control) (P : Program E Q) (e : E) (q : Q) : List Nat :=
  (stream ω e (compileWith d m e P (fun _ _ => none))).map (fun x => x.2 q)

/-- Required positions of engine `e` on counter `q`. -/
def requirements (d : Deps Q) (ω : Control) (P : Program E Q) (e : E) (q : Q) : List Nat :=
  (requiredStreams d.rel (unroll ω P []) e).map (fun x => x.2 q)

/-! ## The programs

Engines and counters are numbers: engine 0 signals counter 0, and so on. Buffer 0 has one slot, buffer 1 rotates over two. -/

def on (e : Nat) (i : Nat) : Program Nat Nat := .instr i e (some e)
def always (n : Nat) : Control := fun _ _ => n
def isWhole (b : Nat) : Bool := b == 0
def one : Nat × Slot := (0, .const 0)
def rotating : Nat × Slot := (1, .affine [(0, 1)] 0 2)

/-- 0 writes the buffer, 1 reads it. -/
def producerConsumer (buffer : Nat × Slot) : Accesses where
  reads := fun i => if i = 1 then [buffer] else []
  writes := fun i => if i = 0 then [buffer] else []

/-! ## Saving a capture before the signal is counted -/

def saveBeforeCount (d : Deps Nat) : Variant Nat Nat :=
  { (correct d : Variant Nat Nat) with signal := fun i q => match q with
      | none => .nop
      | some q => .seq (captures q (d.touches i)) (.count q 1) }

def rotatingLoop : Program Nat Nat := .loop 0 (.seq (on 0 0) (on 1 1))
def rotatingDeps : Deps Nat := scoreboard (producerConsumer rotating) isWhole rotatingLoop

/-- The consumer would wait for one signal too few: it would read before its producer has written. -/
theorem save_before_count_is_too_early :
    thresholds rotatingDeps (saveBeforeCount rotatingDeps) (always 3) rotatingLoop 1 0 = [0, 1, 2] ∧
    requirements rotatingDeps (always 3) rotatingLoop 1 0 = [1, 2, 3] := by decide

/-! ## Keeping static gaps across a loop [C6, C13, E9] -/

def keepAcrossLoops (d : Deps Nat) : Variant Nat Nat := { (correct d : Variant Nat Nat) with forget := fun _ st => st }

/-- 0 writes; then a loop of other instructions of the same engine; then 1 reads. -/
def loopBetween : Program Nat Nat := .seq (.seq (on 0 0) (.loop 0 (on 0 2))) (on 1 1)
def loopBetweenDeps : Deps Nat := scoreboard (producerConsumer one) isWhole loopBetween

/-- The consumer would wait for the last signal of the loop instead of its producer. -/
theorem keep_across_loops_is_too_late :
    thresholds loopBetweenDeps (keepAcrossLoops loopBetweenDeps) (always 3) loopBetween 1 0 = [4] ∧
    requirements loopBetweenDeps (always 3) loopBetween 1 0 = [1] := by decide

/-- 1 reads what 0 wrote before the loop, in the first iteration, and what 0 wrote in the iteration before, later. -/
def writeInLoop : Program Nat Nat := .seq (on 0 0) (.loop 0 (.seq (on 1 1) (.seq (on 0 2) (.seq (on 0 0) (on 0 2)))))
def writeInLoopDeps : Deps Nat := scoreboard (producerConsumer one) isWhole writeInLoop

theorem keep_across_loops_is_too_late_in_loop :
    thresholds writeInLoopDeps (keepAcrossLoops writeInLoopDeps) (always 2) writeInLoop 1 0 = [1, 4] ∧
    requirements writeInLoopDeps (always 2) writeInLoop 1 0 = [1, 3] := by decide

/-! ## Taking the gap of one branch after the join [C17] -/

def joinKeepsFirst (d : Deps Nat) : Variant Nat Nat := { (correct d : Variant Nat Nat) with join := fun st _ => st }

def unevenBranches : Program Nat Nat := .seq (.seq (on 0 0) (.branch 0 (.seq (on 0 2) (on 0 2)) (on 0 2))) (on 1 1)
def unevenDeps : Deps Nat := scoreboard (producerConsumer one) isWhole unevenBranches

/-- In a run that takes the second branch the consumer would not wait for its producer. -/
theorem join_keeps_first_is_too_early :
    thresholds unevenDeps (joinKeepsFirst unevenDeps) (always 0) unevenBranches 1 0 = [0] ∧
    requirements unevenDeps (always 0) unevenBranches 1 0 = [1] := by decide

/-! ## Not counting a signal in the gap -/

def keepGap (d : Deps Nat) (i : Nat) (counter : Option Nat) (st : Gaps Nat) : Gaps Nat := fun q k =>
  if counter = some q then (if d.touchesKey k i then some 0 else st q k) else st q k

def passWithoutCount (d : Deps Nat) : Variant Nat Nat := { (correct d : Variant Nat Nat) with pass := keepGap d }

def straight : Program Nat Nat := .seq (.seq (on 0 0) (on 0 2)) (on 1 1)
def straightDeps : Deps Nat := scoreboard (producerConsumer one) isWhole straight

theorem pass_without_count_is_too_late :
    thresholds straightDeps (passWithoutCount straightDeps) (always 0) straight 1 0 = [2] ∧
    requirements straightDeps (always 0) straight 1 0 = [1] := by decide

/-! ## Dropping every capture -/

theorem drop_all_captures_is_too_early :
    (stream (always 3) 1 (keepCaptures (fun _ _ => false) (compile rotatingDeps 1 rotatingLoop))).map
      (fun x => x.2 0) = [0, 0, 0] ∧
    requirements rotatingDeps (always 3) rotatingLoop 1 0 = [1, 2, 3] := by decide

/-! ## Dropping a wait that is stronger than what is established -/

def dropStronger : Code Nat → Code Nat
  | .seq (.waitShadow q k) (.seq c (.waitShadow p k')) =>
    if q = p ∧ k' < k then .seq (.waitShadow q k) (.seq c .nop) else .seq (.waitShadow q k) (.seq c (.waitShadow p k'))
  | c => c

/-- Two waits, the second one stronger; instruction 1 in between. -/
def twoWaits : Code Nat := .seq (.waitShadow 0 1) (.seq (.issue 1 (some 1)) (.waitShadow 0 0))

theorem drop_stronger_is_too_early :
    (stream (always 0) 1 (.seq (.count 0 2) (.seq twoWaits (.issue 1 (some 1))))).map (fun x => x.2 0) = [1, 2] ∧
    (stream (always 0) 1 (.seq (.count 0 2) (.seq (dropStronger twoWaits) (.issue 1 (some 1))))).map
      (fun x => x.2 0) = [1, 0] := by decide

/-! ## Subtracting the distance instead of capturing by slot [C1] -/

/-- The loop of two slots is entered twice; the producer waits for `shadow - 2`, the consumer of two iterations ago. -/
def reentered : Program Nat Nat := .loop 0 (.loop 1 (.seq (on 0 0) (on 1 1)))
def reenteredDeps : Deps Nat := scoreboard (producerConsumer rotating) isWhole reentered
def twoByThree : Control := fun k _ => if k = 0 then 2 else 3
def byDistance : Code Nat := .loop 0 (.loop 1 (.seq (.waitShadow 1 1) (.seq (.issue 0 (some 0)) (.count 1 1))))

/-- In the first iteration of the second entry it would wait for signal 2 instead of 3. -/
theorem distance_is_too_early :
    (stream twoByThree 0 byDistance).map (fun x => x.2 1) = [0, 0, 1, 2, 3, 4] ∧
    requirements reenteredDeps twoByThree reentered 0 1 = [0, 0, 1, 3, 2, 4] := by decide

/-! ## A specification that is off by one -/

/-- With one completion fewer demanded, a consumer may issue before its producer has completed, and that is not a correct
schedule. -/
theorem one_fewer_is_incorrect :
    ¬ Respects consumes (unroll (fun _ _ => 1) twoEngines [])
      [.issue ⟨0, false, some false, [0]⟩, .issue ⟨1, true, some true, [0]⟩] := by
  have := too_early_incorrect consumes (T := unroll (fun _ _ => 1) twoEngines [])
    (pre := [⟨0, false, some false, [0]⟩]) (post := []) (c := ⟨1, true, some true, [0]⟩) (q := false)
    (x := [.issue ⟨0, false, some false, [0]⟩]) (y := []) rfl rfl (by decide)
  simpa using this

end Headway.Counterexamples
end
