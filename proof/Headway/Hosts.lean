module
public import Headway.Program
@[expose] public noncomputable section

/-!
# One host for each counter, read off the program

`Program.HostedBy host P` says that every instruction of `P` that signals a counter is issued by that counter's host. Then every run has this
property (`hosted_unroll`), which the theorems about counters need.
-/

set_option autoImplicit false

namespace Headway

variable {E Q : Type}

def Program.HostedBy (host : Q → E) : Program E Q → Prop
  | .skip => True
  | .instr _ e q => ∀ p, q = some p → e = host p
  | .seq a b => a.HostedBy host ∧ b.HostedBy host
  | .branch _ a b => a.HostedBy host ∧ b.HostedBy host
  | .loop _ s => s.HostedBy host

theorem hosted_unroll {host : Q → E} (ω : Control) {P : Program E Q} (h : P.HostedBy host) (v : List Nat) :
    Hosted host (unroll ω P v) := by
  induction P generalizing v with
  | skip => intro c hc; simp [unroll] at hc
  | instr i e q => intro c hc p hp; simp [unroll] at hc; subst hc; exact h p hp
  | seq a b iha ihb =>
    intro c hc
    simp only [unroll, List.mem_append] at hc
    exact hc.elim (iha h.1 v c) (ihb h.2 v c)
  | branch k a b iha ihb =>
    intro c hc
    simp only [unroll] at hc
    split at hc
    · exact ihb h.2 v c hc
    · exact iha h.1 v c hc
  | loop k s ih =>
    intro c hc
    obtain ⟨i, hi⟩ := mem_iterate _ _ _ _ hc
    exact ih h _ c hi

end Headway
end
