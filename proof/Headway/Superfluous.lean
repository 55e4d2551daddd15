module
public import Headway.Ledger
@[expose] public noncomputable section

/-!
# Superfluous waits: what a pass may leave out, all at once

A pass looks at the required waits of the whole program and decides for each whether to emit it. `NotEarly` lists the reasons for which an
instance may wait for less than it requires: its engine knows the rest from waits that were required before, or another
signal that the instance requires implies it (whether the wait for that signal is emitted or not). `NotLate` says how much more
it may wait for: for what it will know anyway.

* `superfluous_acceptable`: a placement that keeps both at every instance is acceptable. The reasons refer to required waits, so they need not
  be looked at one after the other: what is left out for the sake of a wait that is left out itself is implied by one that stays.
* `superfluous_bisim`: so it is bisimilar to the specification.
* `AsGood`: a threshold `x` is as good as the required one `t` for an engine that knows `k`: `max t k = max x k`, that is, `t ≤ x ≤ max t k` or
  `x ≤ t ≤ k`. Once it is so it stays so (`asGood_later`), and where paths meet it is enough that it is so on each (rule d: `asGood_of_known`).
-/

set_option autoImplicit false

namespace Headway

variable {E Q : Type} [DecidableEq E] [DecidableEq Q] {host : Q → E}

/-- `c`, right after `pre`, with the thresholds `g`, does not issue too early. -/
def NotEarly (counters : List Q) (D : DepRel E Q) (pre : List (Instance E Q)) (c : Instance E Q) (g : Q → Nat) : Prop :=
  ∀ q, required D pre c q ≤ g q ∨ required D pre c q ≤ (ledger counters D pre).engine c.engine q ∨
    ∃ p, required D pre c q ≤ (ledger counters D pre).signal p (required D pre c p) q

/-- It does not wait for more than it knows after the required waits. -/
def NotLate (counters : List Q) (D : DepRel E Q) (pre : List (Instance E Q)) (c : Instance E Q) (g : Q → Nat) : Prop :=
  ∀ q, g q ≤ toldAt counters D pre c q

/-! ## Equally good thresholds -/

/-- For an engine that knows `k`, waiting for `x` is waiting for `t`. -/
def AsGood (k t x : Nat) : Prop := max t k = max x k

/-- The interval: not below `t` unless that is known, not above it unless that is known. -/
theorem asGood_iff {k t x : Nat} : AsGood k t x ↔ (t ≤ x ∨ t ≤ k) ∧ (x ≤ t ∨ x ≤ k) := by
  simp only [AsGood]; omega

theorem asGood_refl (k t : Nat) : AsGood k t t := rfl

/-- What agrees goes on agreeing while the engine learns more. -/
theorem asGood_later {k k' t x : Nat} (h : AsGood k t x) (hk : k ≤ k') : AsGood k' t x := by
  simp only [AsGood] at *; omega

/-- Rule d: a threshold may be raised to, or be, anything that is known to be reached, where what is required is known too. -/
theorem asGood_of_known {k t x : Nat} (ht : t ≤ k) (hx : x ≤ k) : AsGood k t x := by
  simp only [AsGood]; omega

/-- After the wait the engine knows at least either. -/
theorem asGood_waited {k t x k' : Nat} (h : AsGood k t x) (hk : max t k ≤ k') : x ≤ k' := by
  simp only [AsGood] at h; omega

theorem notEarly_of_asGood {counters : List Q} {D : DepRel E Q} {pre : List (Instance E Q)} {c : Instance E Q} {g : Q → Nat}
    (h : ∀ q, AsGood ((ledger counters D pre).engine c.engine q) (required D pre c q) (g q)) : NotEarly counters D pre c g := by
  intro q
  rcases (asGood_iff.mp (h q)).1 with h | h
  · exact .inl h
  · exact .inr (.inl h)

theorem notLate_of_asGood {counters : List Q} {D : DepRel E Q} {pre : List (Instance E Q)} {c : Instance E Q} {g : Q → Nat}
    (h : ∀ q, AsGood ((ledger counters D pre).engine c.engine q) (required D pre c q) (g q)) : NotLate counters D pre c g := by
  intro q
  exact asGood_waited (h q) (Nat.max_le.mpr ⟨required_le_toldAt .., engine_le_toldAt ..⟩)

/-! ## All at once -/

/-- If every instance before knew, under the placement, what it is told, then all of the ledger is known. -/
theorem ledger_known (counters : List Q) (D : DepRel E Q) (L : Annotated E Q) (hh : Hosted host (L.map Prod.fst))
    (l : Annotated E Q) : ∀ rest, L = l ++ rest →
    (∀ a c g b, l = a ++ (c, g) :: b → ∀ q,
      Known host (streamsOf L) c.engine (turns c.engine (a.map Prod.fst)) q (toldAt counters D (a.map Prod.fst) c q)) →
    (∀ e q n, turns e (l.map Prod.fst) ≤ n + 1 →
      Known host (streamsOf L) e n q ((ledger counters D (l.map Prod.fst)).engine e q)) ∧
    (∀ p j q, SignalKnown host (streamsOf L) p j q ((ledger counters D (l.map Prod.fst)).signal p j q)) := by
  induction l using snoc_induction with
  | nil =>
    intro rest _ _
    exact ⟨fun e q n _ => .zero, fun p j q => .inl rfl⟩
  | snoc l x ih =>
    intro rest hL told
    obtain ⟨c, g⟩ := x
    have hL' : L = l ++ (c, g) :: rest := by simp [hL]
    obtain ⟨ih1, ih2⟩ := ih _ hL' (fun a c' g' b h => told a c' g' (b ++ [(c, g)]) (by simp [h]))
    have hk := told l c g [] rfl
    have hget : (streamsOf L c.engine)[turns c.engine (l.map Prod.fst)]? = some (c, g) := by
      rw [hL']; exact streamsOf_get l c g rest
    have hmap : (l ++ [(c, g)]).map Prod.fst = l.map Prod.fst ++ [c] := by simp
    rw [hmap, ledger_snoc]
    refine ⟨fun e q n hn => ?_, fun p j q => ?_⟩
    · rw [record_engine]
      simp only [turns_append, turns_cons, turns_nil] at hn
      split
      · rename_i he
        subst he
        simp only [if_true] at hn
        exact .earlier (by omega) (hk q)
      · rename_i he
        simp only [Ne.symm he, if_false] at hn
        exact ih1 e q n (by omega)
    · rw [record_signal]
      split
      · rename_i hp
        obtain ⟨hc, hj⟩ := hp
        have he : c.engine = host p := hh c (by rw [hL']; simp) p hc
        refine .inr ⟨turns (host p) (l.map Prod.fst), c, g, by rw [← he]; exact hget, hc, ?_, by rw [← he]; exact hk q⟩
        have h1 := streamsOf_before p l ((c, g) :: rest) (host p)
        rw [← hL'] at h1
        have h2 : Hosted host (l.map Prod.fst) := fun a ha => hh a (by rw [hL']; simp at ha ⊢; exact .inl ha)
        rw [h1, signals_onEngine h2]
        omega
      · exact ih2 p j q

/-- One instance: if everything that its reasons refer to is known under the placement, then so is all it requires. -/
theorem required_known (counters : List Q) (D : DepRel E Q) {w : E → Stream E Q} {pre : List (Instance E Q)}
    {c : Instance E Q} {g : Q → Nat} {n : Nat} (hw : (w c.engine)[n]? = some (c, g)) (h : NotEarly counters D pre c g)
    (engine : ∀ q, Known host w c.engine n q ((ledger counters D pre).engine c.engine q))
    (signal : ∀ p j q, SignalKnown host w p j q ((ledger counters D pre).signal p j q)) (q : Q) :
    Known host w c.engine n q (required D pre c q) := by
  -- from the last signal to the first: a required signal is implied by later ones only
  have from_last : ∀ (a b : List (Instance E Q)), pre = a ++ b → ∀ q, signals q a < required D pre c q →
      Known host w c.engine n q (required D pre c q) := by
    intro a b
    induction b generalizing a with
    | nil =>
      intro hp q hq
      have := lastPosition_le_signals q (fun p => D p c) pre
      rw [List.append_nil] at hp
      rw [← hp] at hq
      simp only [required] at hq
      omega
    | cons x b ih =>
      intro hp q hq
      have ih := ih (a ++ [x]) (by simp [hp])
      by_cases hx : signals q (a ++ [x]) < required D pre c q
      · exact ih q hx
      rcases h q with h | h | ⟨p, h⟩
      · exact .own hw h
      · exact (engine q).down _ h
      · have later : signals p (a ++ [x]) < required D pre c p := by
          refine Nat.lt_of_not_le (fun hle => ?_)
          have := (ledger_bounds counters D pre).2.2 a x b hp p _ q hle
          omega
        rcases signal p (required D pre c p) q with h0 | ⟨m, c', g', h1, h2, h3, h4⟩
        · rw [h0, Nat.le_zero] at h
          rw [h]; exact .zero
        · exact (Known.through (ih p later) h1 h2 h3 h4).down _ h
  rcases Nat.eq_zero_or_pos (required D pre c q) with h0 | h0
  · rw [h0]; exact .zero
  · exact from_last [] pre rfl q (by simpa using h0)

/-- Under a placement that is nowhere too early, every instance knows what it is told. -/
theorem told_known (counters : List Q) (D : DepRel E Q) (l : Annotated E Q) (hh : Hosted host (l.map Prod.fst))
    (h : ∀ a c g b, l = a ++ (c, g) :: b → NotEarly counters D (a.map Prod.fst) c g) (n : Nat) :
    ∀ a c g b, a.length < n → l = a ++ (c, g) :: b → ∀ q,
      Known host (streamsOf l) c.engine (turns c.engine (a.map Prod.fst)) q (required D (a.map Prod.fst) c q) ∧
      Known host (streamsOf l) c.engine (turns c.engine (a.map Prod.fst)) q (toldAt counters D (a.map Prod.fst) c q) := by
  induction n with
  | zero => intro a c g b hn; omega
  | succ n ih =>
    intro a c g b hn hl q
    have hget : (streamsOf l c.engine)[turns c.engine (a.map Prod.fst)]? = some (c, g) := by
      rw [hl]; exact streamsOf_get a c g b
    obtain ⟨h1, h2⟩ := ledger_known counters D l hh a _ hl (by
      intro a' c' g' b' ha q'
      exact (ih a' c' g' (b' ++ (c, g) :: b) (by rw [ha] at hn; simp at hn; omega) (by rw [hl, ha]; simp) q').2)
    have engine := fun q => h1 c.engine q (turns c.engine (a.map Prod.fst)) (Nat.le_succ _)
    have required := fun q => required_known counters D hget (h a c g b hl) engine h2 q
    refine ⟨required q, addSeen_known h2 (fun q' => ?_) counters q⟩
    rcases Nat.le_total ((ledger counters D (a.map Prod.fst)).engine c.engine q') (Headway.required D (a.map Prod.fst) c q') with hle | hle
    · rw [Nat.max_eq_right hle]; exact required q'
    · rw [Nat.max_eq_left hle]; exact engine q'

/-- In the required streams, too, every instance knows what it is told. -/
theorem told_known_required (counters : List Q) (D : DepRel E Q) {T : List (Instance E Q)} (hh : Hosted host T)
    {pre post : List (Instance E Q)} {c : Instance E Q} (hT : T = pre ++ c :: post) (q : Q) :
    Known host (requiredStreams D T) c.engine (turns c.engine pre) q (toldAt counters D pre c q) := by
  have hs : requiredStreams D T = streamsOf (withRequired D [] T) := by
    funext e; exact (streamsOf_withRequired D e T []).symm
  have hm : (withRequired D [] pre).map Prod.fst = pre := withRequired_map D [] pre
  have h := told_known (host := host) counters D (withRequired D [] T) (by rw [withRequired_map]; exact hh) (by
    intro a c' g b hl q'
    refine .inl ?_
    have hget : (withRequired D [] T)[a.length]? = some (c', g) := by rw [hl]; simp
    have hg := withRequired_get D [] T _ _ _ hget
    have ha : T.take a.length = a.map Prod.fst := by
      have h1 : T = (withRequired D [] T).map Prod.fst := (withRequired_map D [] T).symm
      have h2 : a.length = (a.map Prod.fst).length := by simp
      rw [h1, hl, List.map_append, h2, List.take_left]
    rw [hg, ha, List.nil_append]
    exact Nat.le_refl _) ((withRequired D [] pre).length + 1) (withRequired D [] pre) c (required D pre c)
      (withRequired D (pre ++ [c]) post) (Nat.lt_succ_self _) (by
        rw [hT, withRequired_append]; simp [withRequired]) q
  rw [hm] at h
  rw [hs]
  exact h.2

/-- A placement that is nowhere too early and nowhere too late is acceptable. -/
theorem superfluous_acceptable (counters : List Q) (D : DepRel E Q) (l : Annotated E Q) (hh : Hosted host (l.map Prod.fst))
    (early : ∀ a c g b, l = a ++ (c, g) :: b → NotEarly counters D (a.map Prod.fst) c g)
    (late : ∀ a c g b, l = a ++ (c, g) :: b → NotLate counters D (a.map Prod.fst) c g) :
    Acceptable host (requiredStreams D (l.map Prod.fst)) (streamsOf l) := by
  constructor
  · intro e n c g hw
    obtain ⟨a, b, hl, rfl, hn⟩ := streamsOf_place hw
    refine ⟨required D (a.map Prod.fst) c, ?_, fun q => ?_⟩
    · exact (requiredStreams_get ..).mpr ⟨a.map Prod.fst, b.map Prod.fst, by simp [hl], rfl, hn, rfl⟩
    · rw [← hn]
      exact (told_known counters D l hh early _ a c g b (Nat.lt_succ_self _) hl q).1
  · intro e n c g hw
    obtain ⟨a, b, h1, rfl, hn, _⟩ := (requiredStreams_get ..).mp hw
    obtain ⟨la, lr, hl, ha, hr⟩ := List.map_eq_append_iff.mp h1
    obtain ⟨x, lb, rfl, hx, _⟩ := List.map_eq_cons_iff.mp hr
    obtain ⟨c', g'⟩ := x
    simp only at hx
    subst hx
    refine ⟨g', ?_, fun q => ?_⟩
    · rw [← hn, ← ha, hl]; exact streamsOf_get la c' g' lb
    · have := told_known_required (host := host) counters D hh h1 q
      rw [hn] at this
      exact this.down _ (by rw [← ha]; exact late la c' g' lb hl q)

/-- Such a placement is bisimilar to the specification. -/
theorem superfluous_bisim (counters : List Q) (D : DepRel E Q) (l : Annotated E Q) (hh : Hosted host (l.map Prod.fst))
    (early : ∀ a c g b, l = a ++ (c, g) :: b → NotEarly counters D (a.map Prod.fst) c g)
    (late : ∀ a c g b, l = a ++ (c, g) :: b → NotLate counters D (a.map Prod.fst) c g) :
    Bisimilar (Guarded (streamsOf l)) (Spec D (l.map Prod.fst)) :=
  (acceptable_bisim (requiredStreams_hosted D hh) (streamsOf_hosted l hh)
    (superfluous_acceptable counters D l hh early late)).trans (spec_bisim_guarded D _).symm

end Headway
end
