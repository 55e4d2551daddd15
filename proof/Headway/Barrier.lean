module
public import Headway.Acceptable
@[expose] public noncomputable section

/-!
# The barrier baseline: sound, and not minimal

`barrierStreams` puts a barrier of all engines and queues at the end of every iteration: after it, everything before it must have
completed. `barrier_sound`: its schedules are correct, for every program. `barrier_not_minimal`: a concrete correct schedule that it cannot
produce; so it is not bisimilar to the specification (`barrier_not_bisim`). The same construction with barriers anywhere is
`fencedStreams` (`fenced_at_least`); epochs of finite semaphores use it (file `Width`).
-/

set_option autoImplicit false

namespace Headway

variable {E Q : Type} [DecidableEq E] [DecidableEq Q]

/-- Stream of engine `e` in a reference with barriers (`none`): after the last barrier, at the prefix `bar`, everything
before that barrier must have completed. -/
def fencedFrom (D : DepRel E Q) (e : E) : List (Instance E Q) → List (Instance E Q) → List (Option (Instance E Q)) →
    Stream E Q
  | _, _, [] => []
  | _, pre, none :: t => fencedFrom D e pre pre t
  | bar, pre, some c :: t =>
    if c.engine = e then
      (c, fun q => max (required D pre c q) (signals q bar)) :: fencedFrom D e bar (pre ++ [c]) t
    else fencedFrom D e bar (pre ++ [c]) t

def fencedStreams (D : DepRel E Q) (l : List (Option (Instance E Q))) (e : E) : Stream E Q := fencedFrom D e [] [] l

/-- The instances of a reference with barriers. -/
def withoutBarriers (l : List (Option (Instance E Q))) : List (Instance E Q) := l.filterMap id

/-- The sequential reference with a barrier at the end of every iteration. -/
def unrollBarriers (ω : Control) : Program E Q → List Nat → List (Option (Instance E Q))
  | .skip, _ => []
  | .instr i e q, v => [some ⟨i, e, q, v⟩]
  | .seq a b, v => unrollBarriers ω a v ++ unrollBarriers ω b v
  | .branch k a b, v => if ω k v = 0 then unrollBarriers ω b v else unrollBarriers ω a v
  | .loop k s, v => iterate (fun j => unrollBarriers ω s (j :: v) ++ [none]) (ω k v) 0

def barrierStreams (D : DepRel E Q) (ω : Control) (P : Program E Q) : E → Stream E Q :=
  fencedStreams D (unrollBarriers ω P [])

theorem withoutBarriers_append (l m : List (Option (Instance E Q))) :
    withoutBarriers (l ++ m) = withoutBarriers l ++ withoutBarriers m := by
  simp [withoutBarriers]

theorem withoutBarriers_unroll (ω : Control) (s : Program E Q) (v : List Nat) :
    withoutBarriers (unrollBarriers ω s v) = unroll ω s v := by
  induction s generalizing v with
  | skip => rfl
  | instr => rfl
  | seq a b iha ihb => simp [unrollBarriers, unroll, withoutBarriers_append, iha, ihb]
  | branch k a b iha ihb => simp only [unrollBarriers, unroll]; split <;> simp [iha, ihb]
  | loop k s ih =>
    simp only [unrollBarriers, unroll]
    generalize ω k v = n
    generalize 0 = j
    induction n generalizing j with
    | zero => rfl
    | succ n ihn => simp only [iterate, withoutBarriers_append, ih, ihn]; simp [withoutBarriers]

/-- An entry of a fenced stream: its place in the reference, and its thresholds are at least the required ones. -/
theorem fencedFrom_get (D : DepRel E Q) (e : E) (bar pre : List (Instance E Q)) (l : List (Option (Instance E Q)))
    (n : Nat) : ((fencedFrom D e bar pre l)[n]?).map Prod.fst = (onEngine e (withoutBarriers l))[n]? ∧
    ∀ c g, (fencedFrom D e bar pre l)[n]? = some (c, g) →
      ∃ a b, withoutBarriers l = a ++ c :: b ∧ c.engine = e ∧ turns e a = n ∧ ∀ q, required D (pre ++ a) c q ≤ g q := by
  induction l generalizing bar pre n with
  | nil => simp [fencedFrom, withoutBarriers, onEngine]
  | cons x t ih =>
    cases x with
    | none =>
      have := ih pre pre n
      simpa [fencedFrom, withoutBarriers] using this
    | some c =>
      have hi : withoutBarriers (some c :: t) = c :: withoutBarriers t := by simp [withoutBarriers]
      rw [hi, onEngine_cons, fencedFrom]
      by_cases hc : c.engine = e
      · simp only [hc, if_true]
        cases n with
        | zero =>
          refine ⟨by simp, ?_⟩
          intro c' g h
          simp at h
          obtain ⟨rfl, rfl⟩ := h
          exact ⟨[], withoutBarriers t, rfl, hc, rfl, fun q => by simp; omega⟩
        | succ n =>
          obtain ⟨h1, h2⟩ := ih bar (pre ++ [c]) n
          refine ⟨by simpa using h1, ?_⟩
          intro c' g h
          simp at h
          obtain ⟨a, b, k1, k2, k3, k4⟩ := h2 c' g h
          exact ⟨c :: a, b, by simp [k1], k2, by simp [turns_cons, hc, k3], by simpa using k4⟩
      · simp only [hc, if_false]
        obtain ⟨h1, h2⟩ := ih bar (pre ++ [c]) n
        refine ⟨h1, ?_⟩
        intro c' g h
        obtain ⟨a, b, k1, k2, k3, k4⟩ := h2 c' g h
        exact ⟨c :: a, b, by simp [k1], k2, by simp [turns_cons, hc, k3], by simpa using k4⟩

theorem fenced_issues (D : DepRel E Q) (l : List (Option (Instance E Q))) :
    Issues (withoutBarriers l) (fencedStreams D l) := fun e n => (fencedFrom_get D e [] [] l n).1

theorem fenced_at_least (D : DepRel E Q) (l : List (Option (Instance E Q))) :
    AtLeastRequired D (withoutBarriers l) (fencedStreams D l) := by
  intro e n c g hw pre post hT hc hn q
  obtain ⟨a, b, k1, k2, k3, k4⟩ := (fencedFrom_get D e [] [] l n).2 c g hw
  have := (split_unique hT k1 hc k2 (by omega)).1
  rw [this]
  simpa using k4 q

/-- The barrier baseline is sound, for every program and every run. -/
theorem barrier_sound (D : DepRel E Q) (ω : Control) (P : Program E Q) (tr : List (Event E Q))
    (h : Traces (Guarded (barrierStreams D ω P)) tr) :
    InOrder (unroll ω P []) tr ∧ Respects D (unroll ω P []) tr := by
  rw [← withoutBarriers_unroll]
  exact at_least_sound (fenced_issues D _) (fenced_at_least D _) tr h

/-! ## The baseline loses correct schedules -/

/-- Two engines, a loop of two iterations, a producer and a consumer in each; the counters are the engines' own. -/
def twoEngines : Program Bool Bool := .loop 0 (.seq (.instr 0 false (some false)) (.instr 1 true (some true)))
/-- The consumer depends on the producer, the producer on nothing. -/
def consumes : DepRel Bool Bool := fun p c => p.instr == 0 && c.instr == 1
def twice : Control := fun _ _ => 2
/-- The producer runs ahead into the second iteration before the consumer of the first has issued. -/
def runsAhead : List (Event Bool Bool) :=
  [.issue ⟨0, false, some false, [0]⟩, .complete false, .issue ⟨0, false, some false, [1]⟩]

theorem barrier_not_minimal :
    (InOrder (unroll twice twoEngines []) runsAhead ∧ Respects consumes (unroll twice twoEngines []) runsAhead) ∧
      ¬ Traces (Guarded (barrierStreams consumes twice twoEngines)) runsAhead := by
  refine too_late_stalls (x := [.issue ⟨0, false, some false, [0]⟩, .complete false])
    (c := ⟨0, false, some false, [1]⟩)
    (g := fun q => max (required consumes [⟨0, false, some false, [0]⟩, ⟨1, true, some true, [0]⟩]
        ⟨0, false, some false, [1]⟩ q)
      (signals q [(⟨0, false, some false, [0]⟩ : Instance Bool Bool), ⟨1, true, some true, [0]⟩]))
    (q := true) ?_ rfl (by decide)
  refine allFollow_cons.mpr ⟨?_, allFollow_cons.mpr ⟨?_, allFollow_cons.mpr ⟨?_, by simp [AllFollow]⟩⟩⟩
  · exact ⟨[], _, rfl, rfl, by simp⟩
  · show (0 : Nat) < 1
    decide
  · refine ⟨[⟨0, false, some false, [0]⟩, ⟨1, true, some true, [0]⟩], [⟨1, true, some true, [1]⟩], rfl, rfl, ?_⟩
    intro a p b q _ h
    simp [consumes] at h

theorem barrier_not_bisim :
    ¬ Bisimilar (Guarded (barrierStreams consumes twice twoEngines)) (Spec consumes (unroll twice twoEngines [])) :=
  fun h => barrier_not_minimal.2 ((h.traces _).mpr ((spec_traces _ _ _).mpr barrier_not_minimal.1))

end Headway
end
