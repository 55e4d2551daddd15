module
public import Headway.Compile
@[expose] public noncomputable section

/-!
# Finitely many registers

Slots are syntax, so a code names a finite list of capture registers: `Code.registers`. `finitely_many_registers`: what the
code does depends on nothing but the shadows and these registers, and it writes no other. An engine therefore needs one
register for each entry of this list, and one shadow for each counter.
-/

set_option autoImplicit false

namespace Headway

variable {E Q : Type} [DecidableEq E] [DecidableEq Q]

/-- The registers of one capture or wait: one for each value of its slot. -/
def slotRegisters (q : Q) (key : Nat) (slot : Slot) : List (Q × Nat × Nat) :=
  (List.range slot.size).map (fun s => (q, key, s))

/-- Every capture register that a code names. -/
def Code.registers : Code Q → List (Q × Nat × Nat)
  | .capture q key slot => slotRegisters q key slot
  | .waitCapture q key slot => slotRegisters q key slot
  | .seq a b => a.registers ++ b.registers
  | .branch _ a b => a.registers ++ b.registers
  | .loop _ b => b.registers
  | _ => []

/-- Every slot expression of the code has a positive modulus. -/
def Code.SlotsValid : Code Q → Prop
  | .capture _ _ slot => slot.IsValid
  | .waitCapture _ _ slot => slot.IsValid
  | .seq a b => a.SlotsValid ∧ b.SlotsValid
  | .branch _ a b => a.SlotsValid ∧ b.SlotsValid
  | .loop _ b => b.SlotsValid
  | _ => True

/-- Equal shadows, and equal captures wherever `l` says. -/
def SameOn (l : List (Q × Nat × Nat)) (ρ ρ' : Registers Q) : Prop :=
  ρ.shadow = ρ'.shadow ∧ ∀ q key s, (q, key, s) ∈ l → ρ.capture q key s = ρ'.capture q key s

theorem mem_slotRegisters {q : Q} {key : Nat} {slot : Slot} (h : slot.IsValid) (v : List Nat) :
    (q, key, slot.eval v) ∈ slotRegisters q key slot := by
  simp only [slotRegisters, List.mem_map, List.mem_range]
  exact ⟨_, slot.eval_lt_size h v, rfl⟩

theorem iterateCode_same {l : List (Q × Nat × Nat)} {f : Nat → Registers Q → List (Effect E Q) × Registers Q}
    (h : ∀ j ρ ρ', SameOn l ρ ρ' → (f j ρ).1 = (f j ρ').1 ∧ SameOn l (f j ρ).2 (f j ρ').2) (n : Nat) :
    ∀ j ρ ρ', SameOn l ρ ρ' →
      (iterateCode f n j ρ).1 = (iterateCode f n j ρ').1 ∧ SameOn l (iterateCode f n j ρ).2 (iterateCode f n j ρ').2 := by
  induction n with
  | zero => intro j ρ ρ' r; exact ⟨rfl, r⟩
  | succ n ih =>
    intro j ρ ρ' r
    obtain ⟨h1, h2⟩ := h j ρ ρ' r
    obtain ⟨h3, h4⟩ := ih (j + 1) _ _ h2
    exact ⟨by simp only [iterateCode, h1, h3], h4⟩

theorem run_same (ω : Control) (e : E) (l : List (Q × Nat × Nat)) (c : Code Q) (hv : c.SlotsValid) :
    (∀ x ∈ c.registers, x ∈ l) → ∀ v ρ ρ', SameOn l ρ ρ' →
      (run ω e c v ρ).1 = (run ω e c v ρ').1 ∧ SameOn l (run ω e c v ρ).2 (run ω e c v ρ').2 := by
  induction c with
  | nop => intro _ v ρ ρ' r; exact ⟨rfl, r⟩
  | count q k => intro _ v ρ ρ' r; exact ⟨rfl, by simp [run, Registers.add, r.1], r.2⟩
  | countTrip q k site => intro _ v ρ ρ' r; exact ⟨rfl, by simp [run, Registers.add, r.1], r.2⟩
  | capture q key slot =>
    intro _ v ρ ρ' r
    refine ⟨rfl, r.1, ?_⟩
    intro p k s hm
    simp only [run, Registers.save, r.1, r.2 p k s hm]
  | waitCapture q key slot =>
    intro hl v ρ ρ' r
    have := r.2 q key (slot.eval v) (hl _ (mem_slotRegisters hv v))
    exact ⟨by simp [run, this], r⟩
  | waitShadow q k => intro _ v ρ ρ' r; exact ⟨by simp [run, r.1], r⟩
  | issue i q => intro _ v ρ ρ' r; exact ⟨rfl, r⟩
  | seq a b iha ihb =>
    intro hl v ρ ρ' r
    obtain ⟨h1, h2⟩ := iha hv.1 (fun x hx => hl x (by simp [Code.registers, hx])) v ρ ρ' r
    obtain ⟨h3, h4⟩ := ihb hv.2 (fun x hx => hl x (by simp [Code.registers, hx])) v _ _ h2
    exact ⟨by simp only [run, h1, h3], h4⟩
  | branch k a b iha ihb =>
    intro hl v ρ ρ' r
    simp only [run]
    split
    · exact ihb hv.2 (fun x hx => hl x (by simp [Code.registers, hx])) v ρ ρ' r
    · exact iha hv.1 (fun x hx => hl x (by simp [Code.registers, hx])) v ρ ρ' r
  | loop k b ih =>
    intro hl v ρ ρ' r
    exact iterateCode_same (f := fun j => run ω e b (j :: v))
      (fun j ρ ρ' r => ih hv hl (j :: v) ρ ρ' r) (ω k v) 0 ρ ρ' r

theorem iterateCode_untouched {q : Q} {key s : Nat} {f : Nat → Registers Q → List (Effect E Q) × Registers Q}
    (h : ∀ j ρ, (f j ρ).2.capture q key s = ρ.capture q key s) (n j : Nat) (ρ : Registers Q) :
    (iterateCode f n j ρ).2.capture q key s = ρ.capture q key s := by
  induction n generalizing j ρ with
  | zero => rfl
  | succ n ih => simp only [iterateCode, ih, h]

theorem run_untouched (ω : Control) (e : E) (q : Q) (key s : Nat) (c : Code Q) (hv : c.SlotsValid)
    (hn : (q, key, s) ∉ c.registers) : ∀ v ρ, (run ω e c v ρ).2.capture q key s = ρ.capture q key s := by
  induction c with
  | nop | count | countTrip | waitCapture | waitShadow | issue => intro v ρ; rfl
  | capture p k slot =>
    intro v ρ
    simp only [run, Registers.save]
    rw [if_neg]
    rintro ⟨rfl, rfl, rfl⟩
    exact hn (mem_slotRegisters hv v)
  | seq a b iha ihb =>
    intro v ρ
    simp only [Code.registers, List.mem_append, not_or] at hn
    simp only [run, ihb hv.2 hn.2, iha hv.1 hn.1]
  | branch k a b iha ihb =>
    intro v ρ
    simp only [Code.registers, List.mem_append, not_or] at hn
    simp only [run]; split
    · exact ihb hv.2 hn.2 v ρ
    · exact iha hv.1 hn.1 v ρ
  | loop k b ih =>
    intro v ρ
    exact iterateCode_untouched (fun j ρ => ih hv hn _ ρ) _ _ ρ

/-- A code reads and writes no capture register outside its finite list. -/
theorem finitely_many_registers (ω : Control) (e : E) (c : Code Q) (hv : c.SlotsValid) (v : List Nat) :
    (∀ ρ ρ', SameOn c.registers ρ ρ' → (run ω e c v ρ).1 = (run ω e c v ρ').1) ∧
    ∀ ρ q key s, (q, key, s) ∉ c.registers → (run ω e c v ρ).2.capture q key s = ρ.capture q key s :=
  ⟨fun ρ ρ' r => (run_same ω e _ c hv (fun _ h => h) v ρ ρ' r).1,
    fun ρ q key s h => run_untouched ω e q key s c hv h v ρ⟩

end Headway
end
