module
@[expose] public noncomputable section

/-!
# Transition systems: weak bisimulation, visible traces, freedom from deadlock

Silent steps (`none`) are what an engine does on its own: control, counting, capturing, passing a wait. Visible steps are
the issue and the completion of an instance. `Bisimilar M N` means that each machine can follow every step of the other, visible
step by visible step; then both have the same traces (`Bisimilar.traces`) and neither can be stuck where the other is not
(`Bisimilar.live`).
-/

set_option autoImplicit false

namespace Headway

/-- A labelled transition system; label `none` is the silent step. -/
structure LTS (L : Type) where
  State : Type
  step : State → Option L → State → Prop
  init : State

variable {L : Type}

inductive Taus (M : LTS L) : M.State → M.State → Prop
  | refl (s) : Taus M s s
  | head {s t u} : M.step s none t → Taus M t u → Taus M s u

inductive WStep (M : LTS L) : M.State → Option L → M.State → Prop
  | tau {s t} : Taus M s t → WStep M s none t
  | vis {s t u w a} : Taus M s t → M.step t (some a) u → Taus M u w → WStep M s (some a) w

/-- Weak runs with their visible trace. -/
inductive Run (M : LTS L) : M.State → List L → M.State → Prop
  | nil (s) : Run M s [] s
  | tau {s t u tr} : M.step s none t → Run M t tr u → Run M s tr u
  | vis {s t u a tr} : M.step s (some a) t → Run M t tr u → Run M s (a :: tr) u

def WeakSim (M N : LTS L) (R : M.State → N.State → Prop) : Prop :=
  ∀ s t, R s t → ∀ o s', M.step s o s' → ∃ t', WStep N t o t' ∧ R s' t'

/-- `R` is a weak bisimulation relating the initial states. -/
structure WeakBisim (M N : LTS L) (R : M.State → N.State → Prop) : Prop where
  init : R M.init N.init
  fwd : WeakSim M N R
  bwd : WeakSim N M (fun t s => R s t)

def Bisimilar (M N : LTS L) : Prop := ∃ R, WeakBisim M N R

/-- Visible traces from the initial state. -/
def Traces (M : LTS L) (tr : List L) : Prop := ∃ s, Run M M.init tr s

theorem Taus.trans {M : LTS L} {s t u : M.State} (h : Taus M s t) (k : Taus M t u) : Taus M s u := by
  induction h with
  | refl => exact k
  | head h _ ih => exact .head h (ih k)

theorem WStep.of_step {M : LTS L} {s t : M.State} {o : Option L} (h : M.step s o t) : WStep M s o t := by
  cases o with
  | none => exact .tau (.head h (.refl _))
  | some a => exact .vis (.refl _) h (.refl _)

theorem WStep.pre {M : LTS L} {s t u : M.State} {o : Option L} (h : Taus M s t) (k : WStep M t o u) :
    WStep M s o u := by
  cases k with
  | tau k => exact .tau (h.trans k)
  | vis k1 k2 k3 => exact .vis (h.trans k1) k2 k3

theorem WStep.post {M : LTS L} {s t u : M.State} {o : Option L} (h : WStep M s o t) (k : Taus M t u) :
    WStep M s o u := by
  cases h with
  | tau h => exact .tau (h.trans k)
  | vis k1 k2 k3 => exact .vis k1 k2 (k3.trans k)

theorem WeakSim.taus {M N : LTS L} {R : M.State → N.State → Prop} (h : WeakSim M N R) {s s' : M.State}
    (k : Taus M s s') : ∀ t, R s t → ∃ t', Taus N t t' ∧ R s' t' := by
  induction k with
  | refl => intro t r; exact ⟨t, .refl _, r⟩
  | head hs _ ih =>
    intro t r
    obtain ⟨t1, w, r1⟩ := h _ _ r _ _ hs
    cases w with
    | tau w =>
      obtain ⟨t2, w2, r2⟩ := ih t1 r1
      exact ⟨t2, w.trans w2, r2⟩

theorem WeakSim.wstep {M N : LTS L} {R : M.State → N.State → Prop} (h : WeakSim M N R) {s s' : M.State}
    {o : Option L} (k : WStep M s o s') (t : N.State) (r : R s t) : ∃ t', WStep N t o t' ∧ R s' t' := by
  cases k with
  | tau k => obtain ⟨t', w, r'⟩ := h.taus k t r; exact ⟨t', .tau w, r'⟩
  | vis k1 k2 k3 =>
    obtain ⟨t1, w1, r1⟩ := h.taus k1 t r
    obtain ⟨t2, w2, r2⟩ := h _ _ r1 _ _ k2
    obtain ⟨t3, w3, r3⟩ := h.taus k3 t2 r2
    exact ⟨t3, (WStep.pre w1 w2).post w3, r3⟩

theorem Bisimilar.refl (M : LTS L) : Bisimilar M M :=
  ⟨Eq, rfl, fun _ t r o s' h => ⟨s', by subst r; exact .of_step h, rfl⟩,
    fun _ t r o s' h => ⟨s', by subst r; exact .of_step h, rfl⟩⟩

theorem Bisimilar.symm {M N : LTS L} (h : Bisimilar M N) : Bisimilar N M := by
  obtain ⟨R, h⟩ := h
  exact ⟨fun t s => R s t, h.init, h.bwd, h.fwd⟩

theorem Bisimilar.trans {M N P : LTS L} (h : Bisimilar M N) (k : Bisimilar N P) : Bisimilar M P := by
  obtain ⟨R, h⟩ := h
  obtain ⟨Q, k⟩ := k
  refine ⟨fun s u => ∃ t, R s t ∧ Q t u, ⟨_, h.init, k.init⟩, ?_, ?_⟩
  · rintro s u ⟨t, r, q⟩ o s' hs
    obtain ⟨t', w, r'⟩ := h.fwd _ _ r _ _ hs
    obtain ⟨u', w', q'⟩ := k.fwd.wstep w _ q
    exact ⟨u', w', t', r', q'⟩
  · rintro u s ⟨t, r, q⟩ o u' hu
    obtain ⟨t', w, q'⟩ := k.bwd _ _ q _ _ hu
    obtain ⟨s', w', r'⟩ := h.bwd.wstep w _ r
    exact ⟨s', w', t', r', q'⟩

theorem Run.append {M : LTS L} {s t u : M.State} {x y : List L} (h : Run M s x t) (k : Run M t y u) :
    Run M s (x ++ y) u := by
  induction h with
  | nil => exact k
  | tau h _ ih => exact .tau h (ih k)
  | vis h _ ih => exact .vis h (ih k)

theorem Run.of_taus {M : LTS L} {s t : M.State} (h : Taus M s t) : Run M s [] t := by
  induction h with
  | refl => exact .nil _
  | head h _ ih => exact .tau h ih

theorem Run.of_vis {M : LTS L} {s t : M.State} {a : L} (h : WStep M s (some a) t) : Run M s [a] t := by
  cases h with
  | vis h1 h2 h3 => exact (Run.of_taus h1).append (.vis h2 (Run.of_taus h3))

theorem WeakSim.run {M N : LTS L} {R : M.State → N.State → Prop} (h : WeakSim M N R) {s s' : M.State} {tr : List L}
    (k : Run M s tr s') : ∀ t, R s t → ∃ t', Run N t tr t' ∧ R s' t' := by
  induction k with
  | nil => intro t r; exact ⟨t, .nil _, r⟩
  | tau hs _ ih =>
    intro t r
    obtain ⟨t1, w, r1⟩ := h _ _ r _ _ hs
    cases w with
    | tau w =>
      obtain ⟨t2, w2, r2⟩ := ih t1 r1
      exact ⟨t2, (Run.of_taus w).append w2, r2⟩
  | vis hs _ ih =>
    intro t r
    obtain ⟨t1, w, r1⟩ := h _ _ r _ _ hs
    obtain ⟨t2, w2, r2⟩ := ih t1 r1
    exact ⟨t2, (Run.of_vis w).append w2, r2⟩

theorem Run.nil_inv {M : LTS L} (hnt : ∀ s t, ¬ M.step s none t) {s u : M.State} (h : Run M s [] u) :
    u = s := by
  cases h with
  | nil => rfl
  | tau h _ => exact absurd h (hnt _ _)

theorem Run.cons_inv {M : LTS L} (hnt : ∀ s t, ¬ M.step s none t) {s u : M.State} {a : L} {tr : List L}
    (h : Run M s (a :: tr) u) : ∃ t, M.step s (some a) t ∧ Run M t tr u := by
  cases h with
  | tau h _ => exact absurd h (hnt _ _)
  | vis h k => exact ⟨_, h, k⟩

/-- Bisimilar systems have the same visible traces. -/
theorem Bisimilar.traces {M N : LTS L} (h : Bisimilar M N) (tr : List L) : Traces M tr ↔ Traces N tr := by
  obtain ⟨R, h⟩ := h
  constructor
  · rintro ⟨s, k⟩
    obtain ⟨t, k', _⟩ := h.fwd.run k _ h.init
    exact ⟨t, k'⟩
  · rintro ⟨t, k⟩
    obtain ⟨s, k', _⟩ := h.bwd.run k _ h.init
    exact ⟨s, k'⟩

/-- From every reachable state whose trace is not `done`, a visible event is still possible. -/
def Live (M : LTS L) (done : List L → Prop) : Prop :=
  ∀ tr s, Run M M.init tr s → ¬ done tr → ∃ a s', WStep M s (some a) s'

/-- Deadlock freedom transfers along weak bisimilarity. -/
theorem Bisimilar.live {M N : LTS L} (h : Bisimilar M N) {done : List L → Prop} (hN : Live N done) :
    Live M done := by
  obtain ⟨R, h⟩ := h
  intro tr s k hd
  obtain ⟨t, k', r⟩ := h.fwd.run k _ h.init
  obtain ⟨a, t', w⟩ := hN tr t k' hd
  obtain ⟨s', w', _⟩ := h.bwd.wstep w _ r
  exact ⟨a, s', w'⟩

end Headway
end
