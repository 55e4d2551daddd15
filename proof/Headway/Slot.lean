module
@[expose] public noncomputable section

/-!
# Slots: which part of a buffer an access touches

A buffer of `m` slots that rotates with a loop is accessed at slot `(c · iteration + offset) mod m`; a buffer without rotation at a
constant slot. Slots are syntax, so a synchronized program names finitely many registers: an expression has fewer than `Slot.size`
values (`Slot.eval_lt_size`).
-/

set_option autoImplicit false

namespace Headway

inductive Slot where
  | const (c : Nat)
  /-- `(Σ coefficient · iteration number + offset) mod m`; a term is a loop level (0 = innermost) and its coefficient. -/
  | affine (terms : List (Nat × Nat)) (offset m : Nat)
deriving DecidableEq, Repr

def sumTerms (v : List Nat) : List (Nat × Nat) → Nat
  | [] => 0
  | (level, coefficient) :: t => coefficient * v.getD level 0 + sumTerms v t

/-- The slot in the iteration `v` (innermost loop first). -/
def Slot.eval : Slot → List Nat → Nat
  | .const c, _ => c
  | .affine terms offset m, v => (sumTerms v terms + offset) % m

/-- Every value of the expression is below its size. -/
def Slot.size : Slot → Nat
  | .const c => c + 1
  | .affine _ _ m => m

/-- A rotating buffer has at least one slot. -/
def Slot.IsValid : Slot → Prop
  | .const _ => True
  | .affine _ _ m => 0 < m

theorem Slot.eval_lt_size (s : Slot) (h : s.IsValid) (v : List Nat) : s.eval v < s.size := by
  cases s with
  | const c => simp [eval, size]
  | affine terms offset m => exact Nat.mod_lt _ h

end Headway
end
