module
public import Headway.Judge
public import Headway.Memory
@[expose] public noncomputable section

/-!
# The ledger: what the required waits establish

`ledger D pre` is what is known for sure after the part `pre` of the reference, if every instance waits for what it requires: to each
engine, and to the instance behind each signal. A pass that decides which waits to keep argues with it; what it emits may wait for less.

* `ledger_waited`, `ledger_later`: an engine knows what it has waited for, and goes on knowing it (rule b).
* `ledger_signal`, `ledger_seen`: whoever has seen a signal knows what the instance behind it knew (rule c).
* `ledger_order`: a later signal of a counter tells at least as much as an earlier one (rule a).
* `ledger_bounds`: an instance knows of signals before it only. So instances that imply each other's waits form no cycle.
-/

set_option autoImplicit false

namespace Headway

variable {E Q : Type} [DecidableEq E] [DecidableEq Q]

/-- What the required waits establish in the part `pre` of a run. `counters` are those whose signals lend knowledge. -/
def ledger (counters : List Q) (D : DepRel E Q) (pre : List (Instance E Q)) : Knowledge E Q :=
  (knowledgeAfter counters (withRequired D [] pre)).2

/-- What `c`, right after `pre`, knows when its required waits have been passed. -/
def toldAt (counters : List Q) (D : DepRel E Q) (pre : List (Instance E Q)) (c : Instance E Q) : Q → Nat :=
  knownTo counters (ledger counters D pre) c (required D pre c)

theorem withRequired_append (D : DepRel E Q) (a b pre : List (Instance E Q)) :
    withRequired D pre (a ++ b) = withRequired D pre a ++ withRequired D (pre ++ a) b := by
  induction a generalizing pre with
  | nil => simp [withRequired]
  | cons c t ih => simp [withRequired, ih]

theorem ledger_snoc (counters : List Q) (D : DepRel E Q) (pre : List (Instance E Q)) (c : Instance E Q) :
    ledger counters D (pre ++ [c]) =
      (ledger counters D pre).record c (fun q => signals q pre) (toldAt counters D pre c) := by
  have h : withRequired D [] (pre ++ [c]) = withRequired D [] pre ++ [(c, required D pre c)] := by
    rw [withRequired_append]; simp [withRequired]
  simp only [ledger, h, knowledgeAfter_snoc, judgeStep, knowledgeAfter_fst, withRequired_map, toldAt]

theorem record_engine (κ : Knowledge E Q) (c : Instance E Q) (n k : Q → Nat) (e : E) (q : Q) :
    (κ.record c n k).engine e q = if e = c.engine then k q else κ.engine e q := by
  simp only [Knowledge.record, update_apply]
  split <;> rfl

theorem record_signal (κ : Knowledge E Q) (c : Instance E Q) (n k : Q → Nat) (p : Q) (j : Nat) (q : Q) :
    (κ.record c n k).signal p j q = if c.counter = some p ∧ j = n p + 1 then k q else κ.signal p j q := by
  cases hc : c.counter with
  | none => simp [Knowledge.record, hc]
  | some p' =>
    simp only [Knowledge.record, hc, update_apply, Option.some.injEq]
    by_cases hp : p = p'
    · subst hp
      rw [if_pos rfl, update_apply]
      by_cases hj : j = n p + 1 <;> simp [hj]
    · have : ¬ p' = p := fun h => hp h.symm
      simp [hp, this]

theorem le_addSeen (counters : List Q) (signal : Q → Nat → Q → Nat) (k : Q → Nat) (q : Q) :
    k q ≤ addSeen counters signal k q := by
  simp only [addSeen]
  induction counters with
  | nil => exact Nat.le_refl _
  | cons p t ih => exact Nat.le_trans ih (Nat.le_max_right _ _)

theorem seen_le_addSeen {counters : List Q} (signal : Q → Nat → Q → Nat) (k : Q → Nat) {p : Q} (hp : p ∈ counters) (q : Q) :
    signal p (k p) q ≤ addSeen counters signal k q := by
  simp only [addSeen]
  induction counters with
  | nil => simp at hp
  | cons p' t ih =>
    simp only [List.foldr_cons]
    rcases List.mem_cons.mp hp with rfl | h
    · exact Nat.le_max_left _ _
    · exact Nat.le_trans (ih h) (Nat.le_max_right _ _)

theorem addSeen_le (counters : List Q) (signal : Q → Nat → Q → Nat) (k : Q → Nat) (q : Q) (b : Nat) (hk : k q ≤ b)
    (hs : ∀ p, signal p (k p) q ≤ b) : addSeen counters signal k q ≤ b := by
  simp only [addSeen]
  induction counters with
  | nil => exact hk
  | cons p t ih => exact Nat.max_le.mpr ⟨hs p, ih⟩

theorem engine_le_toldAt (counters : List Q) (D : DepRel E Q) (pre : List (Instance E Q)) (c : Instance E Q) (q : Q) :
    (ledger counters D pre).engine c.engine q ≤ toldAt counters D pre c q :=
  Nat.le_trans (Nat.le_max_left _ (required D pre c q)) (le_addSeen counters (ledger counters D pre).signal
    (fun q => max ((ledger counters D pre).engine c.engine q) (required D pre c q)) q)

theorem required_le_toldAt (counters : List Q) (D : DepRel E Q) (pre : List (Instance E Q)) (c : Instance E Q) (q : Q) :
    required D pre c q ≤ toldAt counters D pre c q :=
  Nat.le_trans (Nat.le_max_right ((ledger counters D pre).engine c.engine q) _) (le_addSeen counters
    (ledger counters D pre).signal (fun q => max ((ledger counters D pre).engine c.engine q) (required D pre c q)) q)

/-! ## Nothing is known of what comes later -/

/-- What is known is before the point where it is known; what the instance behind a signal knew is before that instance. -/
theorem ledger_bounds (counters : List Q) (D : DepRel E Q) (pre : List (Instance E Q)) :
    (∀ e q, (ledger counters D pre).engine e q ≤ signals q pre) ∧
    (∀ p j q, (ledger counters D pre).signal p j q ≤ signals q pre) ∧
    ∀ a x b, pre = a ++ x :: b → ∀ p j q, j ≤ signals p (a ++ [x]) → (ledger counters D pre).signal p j q ≤ signals q a := by
  induction pre using snoc_induction with
  | nil =>
    refine ⟨fun _ _ => Nat.le_refl _, fun _ _ _ => Nat.le_refl _, ?_⟩
    intro a x b h
    simp at h
  | snoc pre c ih =>
    obtain ⟨ih1, ih2, ih3⟩ := ih
    have told : ∀ q, toldAt counters D pre c q ≤ signals q pre := fun q =>
      addSeen_le _ _ _ _ _ (Nat.max_le.mpr ⟨ih1 _ q, lastPosition_le_signals _ _ _⟩) (fun p => ih2 p _ q)
    have more : ∀ q, signals q pre ≤ signals q (pre ++ [c]) := fun q => by simp
    rw [ledger_snoc]
    refine ⟨fun e q => ?_, fun p j q => ?_, ?_⟩
    · rw [record_engine]
      split
      · exact Nat.le_trans (told q) (more q)
      · exact Nat.le_trans (ih1 e q) (more q)
    · rw [record_signal]
      split
      · exact Nat.le_trans (told q) (more q)
      · exact Nat.le_trans (ih2 p j q) (more q)
    · intro a x b h p j q hj
      rw [record_signal]
      rcases append_cons_eq_snoc h.symm with ⟨_, rfl, rfl⟩ | ⟨b', _, h'⟩
      · split
        · exact told q
        · exact ih2 p j q
      · have : signals p (a ++ [x]) ≤ signals p pre := by rw [← h']; simp [signals_cons]
        have : ¬ (c.counter = some p ∧ j = signals p pre + 1) := by rintro ⟨_, rfl⟩; omega
        rw [if_neg this]
        exact ih3 a x b' h'.symm p j q hj

theorem toldAt_le (counters : List Q) (D : DepRel E Q) (pre : List (Instance E Q)) (c : Instance E Q) (q : Q) :
    toldAt counters D pre c q ≤ signals q pre :=
  addSeen_le _ _ _ _ _ (Nat.max_le.mpr ⟨(ledger_bounds counters D pre).1 _ q, lastPosition_le_signals _ _ _⟩)
    (fun p => (ledger_bounds counters D pre).2.1 p _ q)

/-! ## The rules -/

/-- Rule b, first half: what an engine knows it knows later. -/
theorem ledger_later (counters : List Q) (D : DepRel E Q) (pre mid : List (Instance E Q)) (e : E) (q : Q) :
    (ledger counters D pre).engine e q ≤ (ledger counters D (pre ++ mid)).engine e q := by
  induction mid using snoc_induction with
  | nil => simp
  | snoc mid c ih =>
    rw [← List.append_assoc, ledger_snoc, record_engine]
    split
    · rename_i he
      subst he
      exact Nat.le_trans ih (engine_le_toldAt counters D (pre ++ mid) c q)
    · exact ih

theorem ledger_told (counters : List Q) (D : DepRel E Q) (pre mid : List (Instance E Q)) (c : Instance E Q) (q : Q) :
    toldAt counters D pre c q ≤ (ledger counters D (pre ++ c :: mid)).engine c.engine q := by
  have h := ledger_later counters D (pre ++ [c]) mid c.engine q
  rw [ledger_snoc, record_engine, if_pos rfl] at h
  simpa using h

/-- Rule b: after an instance its engine knows what the instance required. -/
theorem ledger_waited (counters : List Q) (D : DepRel E Q) (pre mid : List (Instance E Q)) (c : Instance E Q) (q : Q) :
    required D pre c q ≤ (ledger counters D (pre ++ c :: mid)).engine c.engine q :=
  Nat.le_trans (required_le_toldAt counters D pre c q) (ledger_told counters D pre mid c q)

/-- Rule c, first half: what is known of a signal is what the instance behind it knew. -/
theorem ledger_signal (counters : List Q) (D : DepRel E Q) (pre mid : List (Instance E Q)) {x : Instance E Q} {p : Q}
    (hx : x.counter = some p) (q : Q) :
    (ledger counters D (pre ++ x :: mid)).signal p (signals p pre + 1) q = toldAt counters D pre x q := by
  induction mid using snoc_induction with
  | nil => rw [ledger_snoc, record_signal, if_pos ⟨hx, rfl⟩]
  | snoc mid c ih =>
    have h : pre ++ x :: (mid ++ [c]) = (pre ++ x :: mid) ++ [c] := by simp
    rw [h, ledger_snoc, record_signal, if_neg, ih]
    rintro ⟨_, hj⟩
    simp [signals_cons, hx] at hj

/-- Rule c: after an instance that required `p`, its engine knows what the instance behind that signal knew. -/
theorem ledger_seen {counters : List Q} (D : DepRel E Q) (pre mid : List (Instance E Q)) (c : Instance E Q) {p : Q}
    (hp : p ∈ counters) (hk : (ledger counters D pre).engine c.engine p ≤ required D pre c p) (q : Q) :
    (ledger counters D pre).signal p (required D pre c p) q ≤ (ledger counters D (pre ++ c :: mid)).engine c.engine q := by
  refine Nat.le_trans ?_ (ledger_told counters D pre mid c q)
  have h := seen_le_addSeen (ledger counters D pre).signal
    (fun q => max ((ledger counters D pre).engine c.engine q) (required D pre c q)) hp q
  simp only [Nat.max_eq_right hk] at h
  exact h

/-- A signal that nobody has sent tells nothing. -/
theorem ledger_unsent (counters : List Q) (D : DepRel E Q) (pre : List (Instance E Q)) (p q : Q) :
    (ledger counters D pre).signal p 0 q = 0 := by
  induction pre using snoc_induction with
  | nil => rfl
  | snoc pre c ih => rw [ledger_snoc, record_signal, if_neg (by rintro ⟨_, h⟩; omega), ih]

/-- Rule a: a later signal of a counter tells at least as much as an earlier one, because they come from one engine, in order. -/
theorem ledger_order {host : Q → E} (counters : List Q) (D : DepRel E Q) {pre : List (Instance E Q)} (hh : Hosted host pre)
    {p : Q} {j j' : Nat} (hj : j ≤ j') (hn : j' ≤ signals p pre) (q : Q) :
    (ledger counters D pre).signal p j q ≤ (ledger counters D pre).signal p j' q := by
  rcases Nat.eq_zero_or_pos j with rfl | h0
  · rw [ledger_unsent]; exact Nat.zero_le _
  rcases Nat.eq_or_lt_of_le hj with rfl | hlt
  · exact Nat.le_refl _
  obtain ⟨a, x, b, h1, hx, hxn⟩ := split_at_signal p pre (j - 1) (by omega)
  obtain ⟨a', x', b', h2, hx', hxn'⟩ := split_at_signal p pre (j' - 1) (by omega)
  have hs : (ledger counters D pre).signal p j q = toldAt counters D a x q := by
    have h := ledger_signal counters D a b hx q
    rw [← h1] at h
    rw [← h]
    congr
    omega
  have hs' : (ledger counters D pre).signal p j' q = toldAt counters D a' x' q := by
    have h := ledger_signal counters D a' b' hx' q
    rw [← h2] at h
    rw [← h]
    congr
    omega
  have he : x.engine = x'.engine := by
    rw [hh x (by rw [h1]; simp) p hx, hh x' (by rw [h2]; simp) p hx']
  have between : ∃ m, a' = a ++ x :: m := by
    rw [h1] at h2
    rcases List.append_eq_append_iff.mp h2 with ⟨m, hm, hr⟩ | ⟨m, hm, hr⟩
    · cases m with
      | nil =>
        exfalso
        rw [List.append_nil] at hm
        subst hm
        omega
      | cons y m =>
        simp only [List.cons_append, List.cons.injEq] at hr
        exact ⟨m, by rw [hm, hr.1]⟩
    · exfalso
      have : signals p a' ≤ signals p a := by rw [hm]; simp
      omega
  obtain ⟨m, rfl⟩ := between
  rw [hs, hs']
  refine Nat.le_trans (ledger_told counters D a m x q) ?_
  rw [he]
  exact engine_le_toldAt counters D _ x' q

end Headway
end
