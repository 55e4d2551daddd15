module
public import Headway.Compile
@[expose] public noncomputable section

/-!
# While loops

A while loop tests its condition in front of every iteration. The development has loops with a trip count per execution of the loop;
`tripCount` is the number of iterations after which the condition is false for the first time. For every while loop that ends:

* `while_unroll`: its iterations are those of the loop with that trip count;
* `while_run`: an engine that tests the condition in front of every iteration does exactly what it does with that trip count;
* `decision_iff`: and each single decision is the same.

So every theorem about `loop` is one about while loops that end; the trip count is nowhere needed in advance, except for
`countTrip`, which an engine may use only where it can know the count.
-/

set_option autoImplicit false

namespace Headway

variable {E Q : Type}

/-- The condition is false in front of some iteration. -/
def Ends (cond : Nat → Bool) : Prop := ∃ n, cond n = false

/-- The number of the first iteration in front of which the condition is false, at least `n`, looking `fuel` ahead. -/
def firstFalse (cond : Nat → Bool) : Nat → Nat → Nat
  | 0, n => n
  | fuel + 1, n => if cond n then firstFalse cond fuel (n + 1) else n

/-- Number of iterations of a while loop that has ended by iteration `bound`. -/
def tripCount (cond : Nat → Bool) (bound : Nat) : Nat := firstFalse cond bound 0

theorem firstFalse_spec (cond : Nat → Bool) (fuel n : Nat) (h : ∃ m, n ≤ m ∧ m ≤ n + fuel ∧ cond m = false) :
    cond (firstFalse cond fuel n) = false ∧ n ≤ firstFalse cond fuel n ∧
      ∀ j, n ≤ j → j < firstFalse cond fuel n → cond j = true := by
  induction fuel generalizing n with
  | zero =>
    obtain ⟨m, h1, h2, h3⟩ := h
    have : m = n := by omega
    subst this
    exact ⟨h3, Nat.le_refl _, fun j h1 h2 => by simp only [firstFalse] at h2; omega⟩
  | succ fuel ih =>
    simp only [firstFalse]
    by_cases hc : cond n = true
    · rw [if_pos hc]
      obtain ⟨m, h1, h2, h3⟩ := h
      have hne : m ≠ n := fun e => by subst e; rw [h3] at hc; simp at hc
      obtain ⟨k1, k2, k3⟩ := ih (n + 1) ⟨m, by omega, by omega, h3⟩
      refine ⟨k1, by omega, ?_⟩
      intro j hj1 hj2
      by_cases hj : j = n
      · subst hj; exact hc
      · exact k3 j (by omega) hj2
    · rw [if_neg hc]
      exact ⟨by simpa using hc, Nat.le_refl _, fun j h1 h2 => by omega⟩

/-- Every decision of a while loop that ends is the one that its trip count makes. -/
theorem decision_iff (cond : Nat → Bool) (bound : Nat) (h : cond bound = false) (j : Nat)
    (hj : ∀ i, i < j → cond i = true) : cond j = true ↔ j < tripCount cond bound := by
  obtain ⟨h1, _, h3⟩ := firstFalse_spec cond bound 0 ⟨bound, by omega, by omega, h⟩
  constructor
  · intro hc
    by_cases hlt : j < tripCount cond bound
    · exact hlt
    · by_cases he : tripCount cond bound < j
      · have := hj _ he
        simp only [tripCount] at this
        rw [h1] at this; simp at this
      · have : j = tripCount cond bound := by omega
        rw [this] at hc
        simp only [tripCount] at hc
        rw [h1] at hc; simp at hc
  · intro hlt
    exact h3 j (by omega) hlt

/-! ## The loop, iteration by iteration -/

/-- Iterations `j, j+1, …` while the condition holds, at most `fuel` of them. -/
def whileIterate {α : Type} (cond : Nat → Bool) (f : Nat → List α) : Nat → Nat → List α
  | 0, _ => []
  | fuel + 1, j => if cond j then f j ++ whileIterate cond f fuel (j + 1) else []

/-- What an engine does that tests the condition in front of every iteration. -/
def whileCode (cond : Nat → Bool) (f : Nat → Registers Q → List (Effect E Q) × Registers Q) :
    Nat → Nat → Registers Q → List (Effect E Q) × Registers Q
  | 0, _, ρ => ([], ρ)
  | fuel + 1, j, ρ =>
    if cond j then
      ((f j ρ).1 ++ (whileCode cond f fuel (j + 1) (f j ρ).2).1, (whileCode cond f fuel (j + 1) (f j ρ).2).2)
    else ([], ρ)

theorem whileIterate_eq {α : Type} (cond : Nat → Bool) (f : Nat → List α) (n : Nat) :
    ∀ fuel j, n ≤ fuel → (∀ i, j ≤ i → i < j + n → cond i = true) → cond (j + n) = false →
      whileIterate cond f fuel j = iterate f n j := by
  induction n with
  | zero =>
    intro fuel j _ _ h
    cases fuel with
    | zero => rfl
    | succ fuel => simp only [whileIterate]; rw [if_neg (by simpa using h)]; rfl
  | succ n ih =>
    intro fuel j hf h1 h2
    cases fuel with
    | zero => omega
    | succ fuel =>
      simp only [whileIterate, iterate]
      rw [if_pos (h1 j (by omega) (by omega)), ih fuel (j + 1) (by omega) (fun i a b => h1 i (by omega) (by omega))]
      rw [show j + 1 + n = j + (n + 1) by omega]; exact h2

theorem whileCode_eq (cond : Nat → Bool) (f : Nat → Registers Q → List (Effect E Q) × Registers Q) (n : Nat) :
    ∀ fuel j ρ, n ≤ fuel → (∀ i, j ≤ i → i < j + n → cond i = true) → cond (j + n) = false →
      whileCode cond f fuel j ρ = iterateCode f n j ρ := by
  induction n with
  | zero =>
    intro fuel j ρ _ _ h
    cases fuel with
    | zero => rfl
    | succ fuel => simp only [whileCode]; rw [if_neg (by simpa using h)]; rfl
  | succ n ih =>
    intro fuel j ρ hf h1 h2
    cases fuel with
    | zero => omega
    | succ fuel =>
      have h3 : cond (j + 1 + n) = false := by rw [show j + 1 + n = j + (n + 1) by omega]; exact h2
      have := ih fuel (j + 1) (f j ρ).2 (by omega) (fun i a b => h1 i (by omega) (by omega)) h3
      simp only [whileCode, iterateCode]
      rw [if_pos (h1 j (by omega) (by omega)), this]

theorem tripCount_le (cond : Nat → Bool) (bound : Nat) (h : cond bound = false) : tripCount cond bound ≤ bound := by
  obtain ⟨_, _, h3⟩ := firstFalse_spec cond bound 0 ⟨bound, by omega, by omega, h⟩
  by_cases hlt : bound < tripCount cond bound
  · have := h3 bound (by omega) hlt
    rw [h] at this; simp at this
  · omega

/-- The iterations of a while loop that ends are those of the loop with its trip count. -/
theorem while_unroll {α : Type} (cond : Nat → Bool) (f : Nat → List α) (bound : Nat) (h : cond bound = false) :
    whileIterate cond f bound 0 = iterate f (tripCount cond bound) 0 := by
  obtain ⟨h1, _, h3⟩ := firstFalse_spec cond bound 0 ⟨bound, by omega, by omega, h⟩
  refine whileIterate_eq cond f _ bound 0 (tripCount_le cond bound h) (fun i a b => h3 i a (by simpa [tripCount] using b)) ?_
  simpa [tripCount] using h1

/-- An engine that tests the condition in front of every iteration does what it does with the trip count. -/
theorem while_run (cond : Nat → Bool) (f : Nat → Registers Q → List (Effect E Q) × Registers Q) (bound : Nat)
    (h : cond bound = false) (ρ : Registers Q) :
    whileCode cond f bound 0 ρ = iterateCode f (tripCount cond bound) 0 ρ := by
  obtain ⟨h1, _, h3⟩ := firstFalse_spec cond bound 0 ⟨bound, by omega, by omega, h⟩
  refine whileCode_eq cond f _ bound 0 ρ (tripCount_le cond bound h) (fun i a b => h3 i a (by simpa [tripCount] using b)) ?_
  simpa [tripCount] using h1

/-- The control values of a program in which site `k` is a while loop with the condition `cond k (j :: v)`. -/
def whileControl (cond : Nat → List Nat → Bool) (bound : Nat → List Nat → Nat) : Control :=
  fun k v => tripCount (fun j => cond k (j :: v)) (bound k v)

/-- In a sequential run of such a program each iteration is entered exactly if the condition holds in front of it. -/
theorem while_loop_unroll (cond : Nat → List Nat → Bool) (bound : Nat → List Nat → Nat)
    (h : ∀ k v, cond k (bound k v :: v) = false) (k : Nat) (s : Program E Q) (v : List Nat) :
    unroll (whileControl cond bound) (.loop k s) v =
      whileIterate (fun j => cond k (j :: v)) (fun j => unroll (whileControl cond bound) s (j :: v)) (bound k v) 0 := by
  rw [while_unroll _ _ _ (h k v)]
  rfl

end Headway
end
