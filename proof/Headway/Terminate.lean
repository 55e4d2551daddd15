module
public import Headway.Redundant
@[expose] public noncomputable section

/-!
# Every run ends

With finitely many engines and counters, every sequence of steps of a synchronized program is finite: `remaining` is an upper bound of
the number of steps that are left (`steps_bounded`). Together with freedom from deadlock: a run that cannot go on has done everything
(`stuck_is_done`). Trip counts are finite here by definition; a while loop that never ends is outside (file `While`).
-/

set_option autoImplicit false

namespace Headway

variable {E Q : Type} [DecidableEq E] [DecidableEq Q]

/-- `n` steps of any kind. -/
inductive Steps (M : LTS (Event E Q)) : M.State → Nat → M.State → Prop
  | zero (s) : Steps M s 0 s
  | succ {s t u o n} : M.step s o t → Steps M t n u → Steps M s (n + 1) u

def sumOver {α : Type} (l : List α) (f : α → Nat) : Nat := (l.map f).foldr (· + ·) 0

theorem sumOver_congr {α : Type} (l : List α) (f g : α → Nat) (h : ∀ a ∈ l, f a = g a) : sumOver l f = sumOver l g := by
  induction l with
  | nil => rfl
  | cons a t ih =>
    have h1 := h a (by simp)
    have h2 := ih (fun x hx => h x (by simp [hx]))
    simp only [sumOver, List.map_cons, List.foldr_cons] at *
    omega

/-- Changing one summand of a list without repetitions. -/
theorem sumOver_change {α : Type} [DecidableEq α] (l : List α) (hl : l.Nodup) (f g : α → Nat) (a : α) (ha : a ∈ l)
    (h : ∀ b, b ≠ a → g b = f b) : sumOver l g + f a = sumOver l f + g a := by
  induction l with
  | nil => simp at ha
  | cons b t ih =>
    have hnd := List.nodup_cons.mp hl
    simp only [sumOver, List.map_cons, List.foldr_cons]
    by_cases hb : b = a
    · subst hb
      have := sumOver_congr t g f (fun x hx => h x (fun e => hnd.1 (e ▸ hx)))
      simp only [sumOver] at this
      omega
    · have h1 := ih hnd.2 (by simpa [Ne.symm hb] using ha)
      have h2 := h b hb
      simp only [sumOver] at h1
      omega

/-- Steps that are left at most: what the sequencers have to do, twice, and what is pending. -/
def remaining (ω : Control) (engines : List E) (counters : List Q) (s : MachineState E Q) : Nat :=
  sumOver engines (fun e => 2 * weightFrames ω (s.frames e)) + sumOver counters s.pending

theorem remaining_set {ω : Control} {engines : List E} (hn : engines.Nodup) {s : MachineState E Q} {e : E}
    (he : e ∈ engines) {K : List (Frame Q)} (h : weightFrames ω K < weightFrames ω (s.frames e)) :
    sumOver engines (fun a => 2 * weightFrames ω (update s.frames e K a)) + 2 ≤
      sumOver engines (fun a => 2 * weightFrames ω (s.frames a)) := by
  have := sumOver_change engines hn (fun a => 2 * weightFrames ω (s.frames a))
    (fun a => 2 * weightFrames ω (update s.frames e K a)) e he (fun b hb => by simp [update_ne _ _ hb])
  simp only [update_same] at this
  omega

/-- Every step, of whatever kind, makes `remaining` smaller. -/
theorem remaining_decreases {ω : Control} {engines : List E} {counters : List Q} (hn : engines.Nodup)
    (hm : counters.Nodup) (he : ∀ e, e ∈ engines) (hq : ∀ q, q ∈ counters) {s s' : MachineState E Q}
    {o : Option (Event E Q)} (h : MachineStep ω s o s') :
    remaining ω engines counters s' < remaining ω engines counters s := by
  cases h with
  | silent e K ρ ha =>
    have hw := weight_act ω e (s.frames e) (s.registers e)
    rw [ha] at hw
    have := remaining_set hn (he e) hw
    simp only [remaining, MachineState.set]
    omega
  | wait e q n K ρ ha hs =>
    have hw := weight_act ω e (s.frames e) (s.registers e)
    rw [ha] at hw
    have := remaining_set hn (he e) hw
    simp only [remaining, MachineState.set]
    omega
  | issue e c K ρ ha =>
    have hw := weight_act ω e (s.frames e) (s.registers e)
    rw [ha] at hw
    have h1 := remaining_set hn (he e) hw
    have h2 : sumOver counters (start s.pending c.counter) ≤ sumOver counters s.pending + 1 := by
      cases hc : c.counter with
      | none => simp [start]
      | some q =>
        have := sumOver_change counters hm s.pending (increment s.pending q) q (hq q)
          (fun b hb => by simp [increment_apply, Ne.symm hb])
        simp only [increment_apply, if_true] at this
        simp only [start]
        omega
    simp only [remaining, MachineState.set]
    omega
  | complete q hp =>
    have := sumOver_change counters hm s.pending (update s.pending q (s.pending q - 1)) q (hq q)
      (fun b hb => update_ne _ _ hb)
    simp only [update_same] at this
    simp only [remaining]
    omega

theorem Steps.bounded {M : LTS (Event E Q)} (f : M.State → Nat) (hf : ∀ s o t, M.step s o t → f t < f s) {n : Nat}
    {s t : M.State} (h : Steps M s n t) : n + f t ≤ f s := by
  induction h with
  | zero => omega
  | succ h _ ih =>
    have := hf _ _ _ h
    omega

/-- No run has more than `remaining` steps. -/
theorem steps_bounded {ω : Control} {code : E → Code Q} {engines : List E} {counters : List Q} (hn : engines.Nodup)
    (hm : counters.Nodup) (he : ∀ e, e ∈ engines) (hq : ∀ q, q ∈ counters) {n : Nat} {s s' : MachineState E Q}
    (h : Steps (Machine ω code) s n s') : n + remaining ω engines counters s' ≤ remaining ω engines counters s :=
  Steps.bounded (M := Machine ω code) (remaining ω engines counters)
    (fun _ _ _ hs => remaining_decreases hn hm he hq hs) h

/-- Where a visible step is possible, perhaps after silent ones, some step is. -/
theorem WStep.can_step {L : Type} {M : LTS L} {s t : M.State} {a : L} (h : WStep M s (some a) t) :
    ∃ o u, M.step s o u := by
  cases h with
  | vis h1 h2 _ =>
    cases h1 with
    | refl => exact ⟨_, _, h2⟩
    | head h _ => exact ⟨_, _, h⟩

/-- A run that cannot go on has issued and completed everything. -/
theorem stuck_is_done (d : Deps Q) (hd : d.Valid) (ω : Control) (P : Program E Q) {host : Q → E}
    (hh : Hosted host (unroll ω P [])) {tr : List (Event E Q)} {s : MachineState E Q}
    (hr : Run (Machine ω (synchronized d P)) (MachineState.init (synchronized d P)) tr s)
    (hs : ∀ o s', ¬ MachineStep ω s o s') : Done (unroll ω P []) tr := by
  refine Classical.byContradiction (fun hn => ?_)
  obtain ⟨a, s', hw⟩ := synchronized_live d hd ω P hh tr s hr hn
  obtain ⟨o, u, hstep⟩ := hw.can_step
  exact hs o u hstep

end Headway
end
