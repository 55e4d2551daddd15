module
public import Headway.Acceptable
public import Headway.Time
@[expose] public noncomputable section

/-!
# The judge: deciding that a placement is exact, for one run

`knowledgeAfter` walks a reference with thresholds in sequential order and keeps, for each engine and for each signal, what is known for sure:
its own waits, what it knew before, and what the instances knew whose signals it has seen. That is the bookkeeping of
`headway check`.

* `known_sound`: everything it keeps is known in the sense of `Known`.
* `judge_exact`: if for every instance each required threshold is known under the placement, and each threshold of the placement
  is known under the required ones, then the placement is bisimilar to the specification: verdict "exact".
-/

set_option autoImplicit false

namespace Headway

variable {E Q : Type} [DecidableEq E] [DecidableEq Q]

/-- What each engine knows, and what was known to the instance with each position of each counter. -/
structure Knowledge (E Q : Type) where
  engine : E → Q → Nat
  signal : Q → Nat → Q → Nat

/-- Add what the instances knew whose signals have been seen. -/
def addSeen (counters : List Q) (signal : Q → Nat → Q → Nat) (k : Q → Nat) : Q → Nat :=
  fun q => counters.foldr (fun p m => max (signal p (k p) q) m) (k q)

/-- What `c` knows when it issues with the thresholds `g`. -/
def knownTo (counters : List Q) (κ : Knowledge E Q) (c : Instance E Q) (g : Q → Nat) : Q → Nat :=
  addSeen counters κ.signal (fun q => max (κ.engine c.engine q) (g q))

/-- Record the knowledge `k` of `c`, which signals as number `n` of its counter. -/
def Knowledge.record (κ : Knowledge E Q) (c : Instance E Q) (n : Q → Nat) (k : Q → Nat) : Knowledge E Q :=
  ⟨update κ.engine c.engine k,
    match c.counter with
    | some p => update κ.signal p (update (κ.signal p) (n p + 1) k)
    | none => κ.signal⟩

def judgeStep (counters : List Q) (σ : List (Instance E Q) × Knowledge E Q) (x : Instance E Q × (Q → Nat)) :
    List (Instance E Q) × Knowledge E Q :=
  (σ.1 ++ [x.1], σ.2.record x.1 (fun q => signals q σ.1) (knownTo counters σ.2 x.1 x.2))

/-- The knowledge after a reference with thresholds. -/
def knowledgeAfter (counters : List Q) (l : Annotated E Q) : List (Instance E Q) × Knowledge E Q :=
  l.foldl (judgeStep counters) ([], ⟨fun _ _ => 0, fun _ _ _ => 0⟩)

/-- The streams of a reference with thresholds. -/
def streamsOf (l : Annotated E Q) (e : E) : Stream E Q := l.filter (fun x => decide (x.1.engine = e))

theorem knowledgeAfter_snoc (counters : List Q) (l : Annotated E Q) (x : Instance E Q × (Q → Nat)) :
    knowledgeAfter counters (l ++ [x]) = judgeStep counters (knowledgeAfter counters l) x := by
  simp [knowledgeAfter, List.foldl_append]

theorem knowledgeAfter_fst (counters : List Q) (l : Annotated E Q) :
    (knowledgeAfter counters l).1 = l.map Prod.fst := by
  induction l using snoc_induction with
  | nil => rfl
  | snoc l x ih => rw [knowledgeAfter_snoc]; simp [judgeStep, ih]

theorem streamsOf_map (l : Annotated E Q) (e : E) : (streamsOf l e).map Prod.fst = onEngine e (l.map Prod.fst) := by
  induction l with
  | nil => rfl
  | cons x t ih =>
    simp only [streamsOf, List.map_cons, onEngine_cons, List.filter_cons] at *
    split <;> simp_all

theorem streamsOf_length (l : Annotated E Q) (e : E) : (streamsOf l e).length = turns e (l.map Prod.fst) := by
  rw [← length_onEngine, ← streamsOf_map, List.length_map]

/-- The entry at a place of the reference, in its stream. -/
theorem streamsOf_get (l : Annotated E Q) (c : Instance E Q) (g : Q → Nat) (rest : Annotated E Q) :
    (streamsOf (l ++ (c, g) :: rest) c.engine)[turns c.engine (l.map Prod.fst)]? = some (c, g) := by
  rw [← streamsOf_length]
  simp [streamsOf, List.filter_append]

theorem streamsOf_before (q : Q) (l m : Annotated E Q) (e : E) :
    signalsBefore q (streamsOf (l ++ m) e) (turns e (l.map Prod.fst)) = signals q (onEngine e (l.map Prod.fst)) := by
  rw [signalsBefore, List.map_take, streamsOf_map, List.map_append, onEngine_take_turns]

/-! ## Everything kept is known -/

variable {host : Q → E}

/-- What a signal tells is known to an instance of its host with at most that position. -/
def SignalKnown (host : Q → E) (w : E → Stream E Q) (p : Q) (j : Nat) (q : Q) (k : Nat) : Prop :=
  k = 0 ∨ ∃ (m : Nat) (c : Instance E Q) (g : Q → Nat), (w (host p))[m]? = some (c, g) ∧ c.counter = some p ∧
    signalsBefore p (w (host p)) m < j ∧ Known host w (host p) m q k

theorem addSeen_known {w : E → Stream E Q} {signal : Q → Nat → Q → Nat} {e : E} {n : Nat} {k : Q → Nat}
    (hs : ∀ p j q, SignalKnown host w p j q (signal p j q)) (hk : ∀ q, Known host w e n q (k q))
    (counters : List Q) (q : Q) : Known host w e n q (addSeen counters signal k q) := by
  simp only [addSeen]
  induction counters with
  | nil => exact hk q
  | cons p t ih =>
    simp only [List.foldr_cons]
    rcases Nat.le_total (signal p (k p) q) (t.foldr (fun p m => max (signal p (k p) q) m) (k q)) with h | h
    · rw [Nat.max_eq_right h]; exact ih
    · rw [Nat.max_eq_left h]
      rcases hs p (k p) q with h0 | ⟨m, c, g, h1, h2, h3, h4⟩
      · rw [h0]; exact .zero
      · exact .through (hk p) h1 h2 h3 h4

/-- Everything that `knowledgeAfter` keeps is known in the streams of the whole reference. -/
theorem known_sound (counters : List Q) (L : Annotated E Q) (hh : Hosted host (L.map Prod.fst)) (l : Annotated E Q) :
    ∀ rest, L = l ++ rest →
      (∀ e q n, turns e (l.map Prod.fst) ≤ n + 1 →
        Known host (streamsOf L) e n q ((knowledgeAfter counters l).2.engine e q)) ∧
      (∀ p j q, SignalKnown host (streamsOf L) p j q ((knowledgeAfter counters l).2.signal p j q)) := by
  induction l using snoc_induction with
  | nil =>
    intro rest _
    exact ⟨fun e q n _ => .zero, fun p j q => .inl rfl⟩
  | snoc l x ih =>
    intro rest hL
    obtain ⟨c, g⟩ := x
    have hL' : L = l ++ (c, g) :: rest := by simp [hL]
    obtain ⟨ih1, ih2⟩ := ih _ hL'
    have hget : (streamsOf L c.engine)[turns c.engine (l.map Prod.fst)]? = some (c, g) := by
      rw [hL']; exact streamsOf_get l c g rest
    have hk : ∀ q, Known host (streamsOf L) c.engine (turns c.engine (l.map Prod.fst)) q
        (knownTo counters (knowledgeAfter counters l).2 c g q) := by
      intro q
      refine addSeen_known ih2 ?_ counters q
      intro q
      rcases Nat.le_total ((knowledgeAfter counters l).2.engine c.engine q) (g q) with h | h
      · simp only [Nat.max_eq_right h]; exact .own hget (Nat.le_refl _)
      · simp only [Nat.max_eq_left h]; exact ih1 _ q _ (Nat.le_succ _)
    rw [knowledgeAfter_snoc]
    refine ⟨fun e q n hn => ?_, fun p j q => ?_⟩
    · simp only [judgeStep, Knowledge.record, update_apply]
      simp only [List.map_append, List.map_cons, List.map_nil, turns_append, turns_cons, turns_nil] at hn
      split
      · rename_i he
        subst he
        simp only [if_true] at hn
        exact .earlier (by omega) (hk q)
      · rename_i he
        simp only [Ne.symm he, if_false] at hn
        exact ih1 e q n (by omega)
    · simp only [judgeStep, Knowledge.record]
      cases hc : c.counter with
      | none => exact ih2 p j q
      | some p' =>
        simp only [update_apply]
        by_cases hp : p = p'
        · rw [if_pos hp]
          subst hp
          simp only [update_apply]
          by_cases hj : j = signals p (knowledgeAfter counters l).1 + 1
          · rw [if_pos hj]
            have he : c.engine = host p := hh c (by rw [hL']; simp) p hc
            refine .inr ⟨turns (host p) (l.map Prod.fst), c, g, by rw [← he]; exact hget, hc, ?_, by rw [← he]; exact hk q⟩
            have h1 := streamsOf_before p l ((c, g) :: rest) (host p)
            rw [← hL'] at h1
            have h2 : Hosted host (l.map Prod.fst) := fun a ha => hh a (by rw [hL']; simp at ha ⊢; exact .inl ha)
            rw [h1, signals_onEngine h2, hj, knowledgeAfter_fst]
            omega
          · rw [if_neg hj]; exact ih2 p j q
        · rw [if_neg hp]; exact ih2 p j q

/-- What the instance at place `i` knows when it issues. -/
def knownAt (counters : List Q) (l : Annotated E Q) (i : Nat) (c : Instance E Q) : Q → Nat :=
  (knowledgeAfter counters (l.take (i + 1))).2.engine c.engine

/-- The verdict "exact" for one run: `l` is the placement, `r` the reference with the required thresholds. -/
def JudgedExact (counters : List Q) (r l : Annotated E Q) : Prop :=
  ∀ (i : Nat) (c : Instance E Q) (g g' : Q → Nat), r[i]? = some (c, g) → l[i]? = some (c, g') → ∀ q,
    g q ≤ knownAt counters l i c q ∧ g' q ≤ knownAt counters r i c q

/-- A place of a stream is a place of the reference. -/
theorem streamsOf_place {l : Annotated E Q} {e : E} {n : Nat} {c : Instance E Q} {g : Q → Nat}
    (h : (streamsOf l e)[n]? = some (c, g)) :
    ∃ a b, l = a ++ (c, g) :: b ∧ c.engine = e ∧ turns e (a.map Prod.fst) = n := by
  induction l generalizing n with
  | nil => simp [streamsOf] at h
  | cons x t ih =>
    by_cases hx : x.1.engine = e
    · have h' : (x :: streamsOf t e)[n]? = some (c, g) := by
        simpa [streamsOf, List.filter_cons, hx] using h
      cases n with
      | zero =>
        simp at h'
        subst h'
        exact ⟨[], t, rfl, hx, rfl⟩
      | succ n =>
        simp at h'
        obtain ⟨a, b, h1, h2, h3⟩ := ih h'
        exact ⟨x :: a, b, by simp [h1], h2, by simp [turns_cons, hx, h3]⟩
    · have h' : (streamsOf t e)[n]? = some (c, g) := by
        simpa [streamsOf, List.filter_cons, hx] using h
      obtain ⟨a, b, h1, h2, h3⟩ := ih h'
      exact ⟨x :: a, b, by simp [h1], h2, by simp [turns_cons, hx, h3]⟩

theorem knownIn_of_judged (counters : List Q) {r l : Annotated E Q} (hsame : r.map Prod.fst = l.map Prod.fst)
    (hh : Hosted host (l.map Prod.fst))
    (h : ∀ (i : Nat) (c : Instance E Q) (g g' : Q → Nat), r[i]? = some (c, g) → l[i]? = some (c, g') →
      ∀ q, g q ≤ knownAt counters l i c q) : KnownIn host (streamsOf r) (streamsOf l) := by
  intro e n c g' hw
  obtain ⟨a, b, hl, he, hn⟩ := streamsOf_place hw
  subst he
  have hli : l[a.length]? = some (c, g') := by rw [hl]; simp
  have hri : (r.map Prod.fst)[a.length]? = some c := by rw [hsame]; simp [hl]
  simp only [List.getElem?_map, Option.map_eq_some_iff] at hri
  obtain ⟨⟨c', g⟩, hr, hc⟩ := hri
  simp only at hc
  subst hc
  have hra : r = r.take a.length ++ (c', g) :: r.drop (a.length + 1) := by
    rw [← drop_eq_cons hr, List.take_append_drop]
  have hturns : turns c'.engine ((r.take a.length).map Prod.fst) = n := by
    rw [List.map_take, hsame, hl, List.map_append, ← hn]
    have : a.length = (a.map Prod.fst).length := by simp
    rw [this, List.take_left]
  refine ⟨g, ?_, ?_⟩
  · rw [hra, ← hturns]; exact streamsOf_get _ c' g _
  · intro q
    have hk := (known_sound counters l hh (a ++ [(c', g')]) b (by simp [hl])).1 c'.engine q n
      (by simp [turns_cons, hn])
    have htake : l.take (a.length + 1) = a ++ [(c', g')] := by
      have h1 : l = (a ++ [(c', g')]) ++ b := by simp [hl]
      have h2 : a.length + 1 = (a ++ [(c', g')]).length := by simp
      rw [h2, h1, List.take_left]
    have := h _ _ _ _ hr hli q
    simp only [knownAt, htake] at this
    exact hk.down _ this

/-- The streams of the required thresholds. -/
theorem streamsOf_withRequired (D : DepRel E Q) (e : E) (T pre : List (Instance E Q)) :
    streamsOf (withRequired D pre T) e = requiredFrom D e pre T := by
  induction T generalizing pre with
  | nil => rfl
  | cons c t ih =>
    simp only [withRequired, requiredFrom, ← ih]
    by_cases hc : c.engine = e <;> simp [streamsOf, hc]

theorem streamsOf_hosted (l : Annotated E Q) (hh : Hosted host (l.map Prod.fst)) : StreamsHosted host (streamsOf l) := by
  intro e n c g q hw hq
  obtain ⟨a, b, hl, he, _⟩ := streamsOf_place hw
  rw [← he]; exact hh c (by rw [hl]; simp) q hq

/-- A placement that is judged exact is bisimilar to the specification. -/
theorem judge_exact (counters : List Q) (D : DepRel E Q) (l : Annotated E Q) (hh : Hosted host (l.map Prod.fst))
    (h : JudgedExact counters (withRequired D [] (l.map Prod.fst)) l) :
    Bisimilar (Guarded (streamsOf l)) (Spec D (l.map Prod.fst)) := by
  have hsame := withRequired_map D [] (l.map Prod.fst)
  have hr : streamsOf (withRequired D [] (l.map Prod.fst)) = requiredStreams D (l.map Prod.fst) := by
    funext e; exact streamsOf_withRequired D e _ []
  have hh' : Hosted host ((withRequired D [] (l.map Prod.fst)).map Prod.fst) := by rw [hsame]; exact hh
  have h1 := knownIn_of_judged (host := host) counters hsame hh (fun i c g g' hi hj q => (h i c g g' hi hj q).1)
  have h2 := knownIn_of_judged (host := host) counters hsame.symm hh'
    (fun i c g' g hj hi q => (h i c g g' hi hj q).2)
  rw [hr] at h1 h2
  exact (acceptable_bisim (requiredStreams_hosted D hh) (streamsOf_hosted l hh) ⟨h1, h2⟩).trans
    (spec_bisim_guarded D _).symm

end Headway
end
