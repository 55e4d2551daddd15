module
public import Headway.Memory
@[expose] public noncomputable section

/-!
# Control values that lie in memory

A trip count or condition may be computed by an engine and read from memory by others. Each engine that needs it issues a
control read: an instance of its own, with its own reads, in front of the decision. `readBy v` says which value a control read takes
from a memory; a run is `Consistent` if the control values are those that the sequential execution reads.

`decisions_from_memory`: in every correct schedule each control read takes from memory exactly the control value of the sequential
execution. So engines that decide by what they read at run time all take the sequential decisions; none has to know them in advance, and
a later write of the value waits for every reader (`Covers` contains that conflict).
-/

set_option autoImplicit false

namespace Headway

variable {E Q L V : Type} [DecidableEq E] [DecidableEq Q] {host : Q → E}

/-- Which instances read control values, for which site, and what value they take from a memory. -/
structure ControlReads (E Q L V : Type) where
  site : Instance E Q → Option Nat
  value : Instance E Q → (L → V) → Nat

/-- The value depends on what the instance reads, and on nothing else. -/
def ControlReads.Local (R : ControlReads E Q L V) (S : Meaning E Q L V) : Prop :=
  ∀ c m m', (∀ l, S.reads c l = true → m l = m' l) → R.value c m = R.value c m'

/-- The control values `ω` are what the sequential execution of `T` reads. -/
def Consistent (R : ControlReads E Q L V) (S : Meaning E Q L V) (m0 : L → V) (ω : Control) (T : List (Instance E Q)) :
    Prop :=
  ∀ pre c post k, T = pre ++ c :: post → R.site c = some k →
    ω k c.iteration = R.value c (sequentialMemory S m0 pre)

/-- When a control read is issued in a correct schedule, it takes from memory the sequential control value. -/
theorem decisions_from_memory (S : Meaning E Q L V) (m0 : L → V) {D : DepRel E Q} (hD : Covers S D)
    {T : List (Instance E Q)} (hh : Hosted host T) (R : ControlReads E Q L V) (hR : R.Local S) {ω : Control}
    (hω : Consistent R S m0 ω T) {x y : List (Event E Q)} {c : Instance E Q} {k : Nat} (hk : R.site c = some k)
    (h : InOrder T (x ++ .issue c :: y) ∧ Respects D T (x ++ .issue c :: y)) :
    R.value c (execute S m0 x).memory = ω k c.iteration := by
  obtain ⟨pre, post, hT, _, hread⟩ := operands_sequential S m0 hD hh h
  rw [hω pre c post k hT hk]
  exact hR c _ _ hread

/-- All engines that read the same control value, whenever each of them reads it, take the same decision. -/
theorem decisions_agree (S : Meaning E Q L V) (m0 : L → V) {D : DepRel E Q} (hD : Covers S D)
    {T : List (Instance E Q)} (hh : Hosted host T) (R : ControlReads E Q L V) (hR : R.Local S) {ω : Control}
    (hω : Consistent R S m0 ω T) {tr x y x' y' : List (Event E Q)} {c c' : Instance E Q} {k : Nat}
    (hk : R.site c = some k) (hk' : R.site c' = some k) (hv : c.iteration = c'.iteration)
    (h : InOrder T tr ∧ Respects D T tr) (hx : tr = x ++ .issue c :: y) (hx' : tr = x' ++ .issue c' :: y') :
    R.value c (execute S m0 x).memory = R.value c' (execute S m0 x').memory := by
  have h1 := decisions_from_memory S m0 hD hh R hR hω hk (x := x) (y := y) (by rw [← hx]; exact h)
  have h2 := decisions_from_memory S m0 hD hh R hR hω hk' (x := x') (y := y') (by rw [← hx']; exact h)
  rw [h1, h2, hv]

end Headway
end
