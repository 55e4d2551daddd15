module
public import Headway.Spec
@[expose] public noncomputable section

/-!
# Guarded streams: one form for specification, synchronized program and baseline

A `Stream` is what one engine does in one run: its instances, each with the threshold it waits for on every counter. `Guarded w` is
the machine in which engine `e` issues the next entry of `w e` as soon as every counter has reached its threshold. The specification
is such a machine, with the thresholds `required` (`spec_bisim_guarded`); so is any synchronized program (file `Engine`), and so is the
barrier baseline (file `Barrier`). Only the thresholds differ.
-/

set_option autoImplicit false

namespace Headway

variable {E Q : Type} [DecidableEq E] [DecidableEq Q]

/-- Instances of one engine in order, each with its thresholds; threshold 0 is no wait. -/
abbrev Stream (E Q : Type) := List (Instance E Q × (Q → Nat))

inductive GuardedStep (w : E → Stream E Q) : Counts E Q → Option (Event E Q) → Counts E Q → Prop
  | issue {s} (e c g) (hw : (w e)[s.issued e]? = some (c, g)) (he : c.engine = e) (hg : ∀ q, g q ≤ s.completed q) :
      GuardedStep w s (some (.issue c)) (s.issue c)
  | complete {s} (q) (h : s.completed q < s.started q) :
      GuardedStep w s (some (.complete q)) (s.complete q)

def Guarded (w : E → Stream E Q) : LTS (Event E Q) := ⟨Counts E Q, GuardedStep w, .zero⟩

/-- The stream of engine `e` in the sequential reference, with the required thresholds. -/
def requiredFrom (D : DepRel E Q) (e : E) : List (Instance E Q) → List (Instance E Q) → Stream E Q
  | _, [] => []
  | pre, c :: t =>
    if c.engine = e then (c, required D pre c) :: requiredFrom D e (pre ++ [c]) t else requiredFrom D e (pre ++ [c]) t

/-- The required thresholds of a whole run. -/
def requiredStreams (D : DepRel E Q) (T : List (Instance E Q)) (e : E) : Stream E Q := requiredFrom D e [] T

theorem requiredFrom_get (D : DepRel E Q) (e : E) (pre l : List (Instance E Q)) (n : Nat) (c : Instance E Q)
    (g : Q → Nat) : (requiredFrom D e pre l)[n]? = some (c, g) ↔
      ∃ a b, l = a ++ c :: b ∧ c.engine = e ∧ turns e a = n ∧ g = required D (pre ++ a) c := by
  induction l generalizing pre n with
  | nil => simp [requiredFrom]
  | cons x t ih =>
    rw [requiredFrom]
    constructor
    · intro h
      split at h
      · rename_i hx
        cases n with
        | zero =>
          simp at h
          obtain ⟨rfl, rfl⟩ := h
          exact ⟨[], t, rfl, hx, rfl, by simp⟩
        | succ n =>
          simp at h
          obtain ⟨a, b, h1, h2, h3, h4⟩ := (ih _ n).mp h
          exact ⟨x :: a, b, by simp [h1], h2, by simp [turns_cons, hx, h3], by simpa using h4⟩
      · rename_i hx
        obtain ⟨a, b, h1, h2, h3, h4⟩ := (ih _ n).mp h
        exact ⟨x :: a, b, by simp [h1], h2, by simp [turns_cons, hx, h3], by simpa using h4⟩
    · rintro ⟨a, b, h1, h2, h3, h4⟩
      cases a with
      | nil =>
        simp at h1
        obtain ⟨rfl, rfl⟩ := h1
        simp at h3
        simp at h4
        simp [h2, ← h3, h4]
      | cons y a =>
        simp at h1
        obtain ⟨rfl, h1⟩ := h1
        rw [turns_cons] at h3
        have h4' : g = required D (pre ++ [x] ++ a) c := by simpa using h4
        split
        · rename_i hx
          simp [hx] at h3
          subst h3
          simpa using (ih _ _).mpr ⟨a, b, h1, h2, rfl, h4'⟩
        · rename_i hx
          simp [hx] at h3
          exact (ih _ _).mpr ⟨a, b, h1, h2, h3, h4'⟩

theorem requiredStreams_get (D : DepRel E Q) (T : List (Instance E Q)) (e : E) (n : Nat) (c : Instance E Q)
    (g : Q → Nat) : (requiredStreams D T e)[n]? = some (c, g) ↔
      ∃ a b, T = a ++ c :: b ∧ c.engine = e ∧ turns e a = n ∧ g = required D a c := by
  simpa using requiredFrom_get D e [] T n c g

/-- The specification machine is the guarded machine with the thresholds `required`. -/
theorem spec_bisim_guarded (D : DepRel E Q) (T : List (Instance E Q)) :
    Bisimilar (Spec D T) (Guarded (requiredStreams D T)) := by
  refine ⟨Eq, rfl, ?_, ?_⟩
  · intro s t r o s' h
    refine ⟨s', ?_, rfl⟩
    subst r
    apply WStep.of_step
    cases h with
    | issue pre c post hT hn hd =>
      exact .issue c.engine c (required D pre c)
        ((requiredStreams_get _ _ _ _ _ _).mpr ⟨pre, post, hT, rfl, hn.symm, rfl⟩) rfl
        ((required_le_iff _ _ _ _).mpr hd)
    | complete q h => exact .complete q h
  · intro s t r o s' h
    refine ⟨s', ?_, rfl⟩
    subst r
    apply WStep.of_step
    cases h with
    | issue e c g hw he hg =>
      obtain ⟨pre, post, hT, hc, hn, rfl⟩ := (requiredStreams_get _ _ _ _ _ _).mp hw
      subst hc
      exact .issue pre c post hT hn.symm ((required_le_iff _ _ _ _).mp hg)
    | complete q h => exact .complete q h

end Headway
end
