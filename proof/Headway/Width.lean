module
public import Headway.Barrier
public import Headway.Memory
@[expose] public noncomputable section

/-!
# Semaphores of finite width, with epochs

A real semaphore has `W` values. From time to time all engines meet at a barrier and reset semaphores, shadows and captures to 0; what lies
between two barriers is an epoch. `WidthMachine W` is that machine: an instance of an epoch first passes the barrier, and then compares what
is left of its threshold with the semaphore, modulo `W`.

* `width_bisim`: if no epoch has `W` or more signals of one counter, this machine is bisimilar to the one with unbounded counters and
  the same barriers.
* `width_sound`: so its schedules are correct.
* `width_exact`: within one epoch it is bisimilar to the specification: finite width costs nothing between two barriers.

The barrier itself waits for everything before it: at the boundary of an epoch the schedule is sound and not minimal.
-/

set_option autoImplicit false

namespace Headway

variable {E Q : Type} [DecidableEq E] [DecidableEq Q]

/-- Like `fencedFrom`, but the required thresholds and the counts at the last barrier stay apart. -/
def epochFrom (D : DepRel E Q) (e : E) : List (Instance E Q) → List (Instance E Q) → List (Option (Instance E Q)) →
    List (Instance E Q × (Q → Nat) × (Q → Nat))
  | _, _, [] => []
  | _, pre, none :: t => epochFrom D e pre pre t
  | bar, pre, some c :: t =>
    if c.engine = e then (c, required D pre c, fun q => signals q bar) :: epochFrom D e bar (pre ++ [c]) t
    else epochFrom D e bar (pre ++ [c]) t

def epochStreams (D : DepRel E Q) (l : List (Option (Instance E Q))) (e : E) :
    List (Instance E Q × (Q → Nat) × (Q → Nat)) := epochFrom D e [] [] l

/-- Semaphores with `W` values, reset at every barrier: the value seen after the barrier `b` is `(completed - b) mod W`. -/
inductive WidthStep (W : Nat) (D : DepRel E Q) (l : List (Option (Instance E Q))) :
    Counts E Q → Option (Event E Q) → Counts E Q → Prop
  | issue {s} (e c g b) (hw : (epochStreams D l e)[s.issued e]? = some (c, g, b)) (he : c.engine = e)
      (hb : ∀ q, b q ≤ s.completed q) (hg : ∀ q, g q - b q ≤ (s.completed q - b q) % W) :
      WidthStep W D l s (some (.issue c)) (s.issue c)
  | complete {s} (q) (h : s.completed q < s.started q) :
      WidthStep W D l s (some (.complete q)) (s.complete q)

def WidthMachine (W : Nat) (D : DepRel E Q) (l : List (Option (Instance E Q))) : LTS (Event E Q) :=
  ⟨Counts E Q, WidthStep W D l, .zero⟩

/-- No part of the reference without a barrier has `W` or more signals of one counter. -/
def EpochsFit (W : Nat) (l : List (Option (Instance E Q))) : Prop :=
  ∀ (u : List (Option (Instance E Q))) (v : List (Instance E Q)) (w : List (Option (Instance E Q))),
    l = u ++ v.map some ++ w → ∀ q, signals q v < W

/-! ## Where the last barrier is -/

/-- Everything before the last barrier. -/
def lastBarrier : List (Instance E Q) → List (Instance E Q) → List (Option (Instance E Q)) → List (Instance E Q)
  | bar, _, [] => bar
  | _, pre, none :: t => lastBarrier pre pre t
  | bar, pre, some c :: t => lastBarrier bar (pre ++ [c]) t

theorem lastBarrier_append (bar pre : List (Instance E Q)) (l m : List (Option (Instance E Q))) :
    lastBarrier bar pre (l ++ m) = lastBarrier (lastBarrier bar pre l) (pre ++ withoutBarriers l) m := by
  induction l generalizing bar pre with
  | nil => simp [lastBarrier, withoutBarriers]
  | cons x t ih => cases x <;> simp [lastBarrier, ih, withoutBarriers]

theorem le_lastBarrier (q : Q) (l : List (Option (Instance E Q))) : ∀ bar pre : List (Instance E Q),
    signals q bar ≤ signals q pre → signals q bar ≤ signals q (lastBarrier bar pre l) := by
  induction l with
  | nil => intro bar pre _; exact Nat.le_refl _
  | cons x t ih =>
    intro bar pre h
    cases x with
    | none => exact Nat.le_trans h (ih pre pre (Nat.le_refl _))
    | some c => exact ih bar (pre ++ [c]) (by simp; omega)

theorem withoutBarriers_map (v : List (Instance E Q)) : withoutBarriers (v.map some) = v := by
  induction v with
  | nil => rfl
  | cons a t _ => simp [withoutBarriers]

/-- A part of the reference ends with a part without barriers, and before that is the last barrier. -/
theorem split_block (l : List (Option (Instance E Q))) :
    ∃ (u : List (Option (Instance E Q))) (v : List (Instance E Q)), l = u ++ v.map some ∧ lastBarrier [] [] l = withoutBarriers u := by
  induction l using snoc_induction with
  | nil => exact ⟨[], [], rfl, rfl⟩
  | snoc l x ih =>
    obtain ⟨u, v, h1, h2⟩ := ih
    cases x with
    | none => exact ⟨l ++ [none], [], by simp, by simp [lastBarrier_append, lastBarrier, withoutBarriers]⟩
    | some c =>
      refine ⟨u, v ++ [c], by simp [h1], ?_⟩
      rw [lastBarrier_append, h2]; rfl

theorem next_block (l : List (Option (Instance E Q))) :
    ∃ (v : List (Instance E Q)) (w : List (Option (Instance E Q))), l = v.map some ++ w ∧ (w = [] ∨ ∃ w', w = none :: w') := by
  induction l with
  | nil => exact ⟨[], [], rfl, .inl rfl⟩
  | cons x t ih =>
    cases x with
    | none => exact ⟨[], none :: t, rfl, .inr ⟨t, rfl⟩⟩
    | some c =>
      obtain ⟨v, w, h1, h2⟩ := ih
      exact ⟨c :: v, w, by simp [h1], h2⟩

/-- An entry of a stream of epochs: its place, its required thresholds, the counts at the last barrier before it. -/
theorem epochFrom_get (D : DepRel E Q) (e : E) (l : List (Option (Instance E Q))) :
    ∀ (bar pre : List (Instance E Q)) (n : Nat) (c : Instance E Q) (g b : Q → Nat),
      (epochFrom D e bar pre l)[n]? = some (c, g, b) ↔
      ∃ l1 l2, l = l1 ++ some c :: l2 ∧ c.engine = e ∧ turns e (withoutBarriers l1) = n ∧
        g = required D (pre ++ withoutBarriers l1) c ∧ b = fun q => signals q (lastBarrier bar pre l1) := by
  induction l with
  | nil => intro bar pre n c g b; simp [epochFrom]
  | cons x t ih =>
    intro bar pre n c g b
    cases x with
    | none =>
      simp only [epochFrom, ih]
      constructor
      · rintro ⟨l1, l2, h1, h2, h3, h4, h5⟩
        exact ⟨none :: l1, l2, by simp [h1], h2, by simpa [withoutBarriers] using h3,
          by simpa [withoutBarriers] using h4, by simpa [lastBarrier] using h5⟩
      · rintro ⟨l1, l2, h1, h2, h3, h4, h5⟩
        cases l1 with
        | nil => simp at h1
        | cons y l1 =>
          simp at h1
          obtain ⟨rfl, h1⟩ := h1
          exact ⟨l1, l2, h1, h2, by simpa [withoutBarriers] using h3, by simpa [withoutBarriers] using h4,
            by simpa [lastBarrier] using h5⟩
    | some a =>
      simp only [epochFrom]
      constructor
      · intro h
        split at h
        · rename_i ha
          cases n with
          | zero =>
            simp at h
            obtain ⟨rfl, rfl, rfl⟩ := h
            exact ⟨[], t, rfl, ha, rfl, by simp [withoutBarriers], rfl⟩
          | succ n =>
            simp only [List.getElem?_cons_succ, ih] at h
            obtain ⟨l1, l2, h1, h2, h3, h4, h5⟩ := h
            exact ⟨some a :: l1, l2, by simp [h1], h2, by simp [withoutBarriers, turns_cons, ha] at h3 ⊢; exact h3,
              by simpa [withoutBarriers] using h4, by simpa [lastBarrier] using h5⟩
        · rename_i ha
          rw [ih] at h
          obtain ⟨l1, l2, h1, h2, h3, h4, h5⟩ := h
          exact ⟨some a :: l1, l2, by simp [h1], h2, by simp [withoutBarriers, turns_cons, ha] at h3 ⊢; exact h3,
            by simpa [withoutBarriers] using h4, by simpa [lastBarrier] using h5⟩
      · rintro ⟨l1, l2, h1, h2, h3, h4, h5⟩
        cases l1 with
        | nil =>
          simp at h1
          obtain ⟨rfl, rfl⟩ := h1
          simp [withoutBarriers] at h3 h4
          simp [h2, ← h3, h4, h5, lastBarrier]
        | cons y l1 =>
          simp at h1
          obtain ⟨rfl, h1⟩ := h1
          split
          · rename_i ha
            simp [withoutBarriers, turns_cons, ha] at h3
            subst h3
            simp only [List.getElem?_cons_succ, ih]
            exact ⟨l1, l2, h1, h2, rfl, by simpa [withoutBarriers] using h4, by simpa [lastBarrier] using h5⟩
          · rename_i ha
            rw [ih]
            simp [withoutBarriers, turns_cons, ha] at h3
            exact ⟨l1, l2, h1, h2, h3, by simpa [withoutBarriers] using h4, by simpa [lastBarrier] using h5⟩

theorem fencedFrom_eq (D : DepRel E Q) (e : E) (l : List (Option (Instance E Q))) : ∀ bar pre : List (Instance E Q),
    fencedFrom D e bar pre l = (epochFrom D e bar pre l).map (fun x => (x.1, fun q => max (x.2.1 q) (x.2.2 q))) := by
  induction l with
  | nil => intro bar pre; rfl
  | cons x t ih =>
    intro bar pre
    cases x with
    | none => exact ih pre pre
    | some c => simp only [fencedFrom, epochFrom]; split <;> simp [ih]

theorem fenced_get (D : DepRel E Q) (l : List (Option (Instance E Q))) (e : E) (n : Nat) (c : Instance E Q)
    (g' : Q → Nat) : (fencedStreams D l e)[n]? = some (c, g') ↔
      ∃ g b, (epochStreams D l e)[n]? = some (c, g, b) ∧ g' = fun q => max (g q) (b q) := by
  rw [fencedStreams, fencedFrom_eq]
  simp only [List.getElem?_map, Option.map_eq_some_iff, epochStreams, Prod.exists, Prod.mk.injEq]
  constructor
  · rintro ⟨c', g, b, h, rfl, h2⟩; exact ⟨g, b, h, h2.symm⟩
  · rintro ⟨g, b, h, h2⟩; exact ⟨c, g, b, h, rfl, h2.symm⟩

/-! ## Within an epoch the modular value is the value -/

variable {host : Q → E}

theorem fenced_hosted (D : DepRel E Q) (l : List (Option (Instance E Q))) (hh : Hosted host (withoutBarriers l)) :
    StreamsHosted host (fencedStreams D l) := by
  intro e n c g q hw hq
  obtain ⟨a, b, h1, h2, _, _⟩ := (fencedFrom_get D e [] [] l n).2 c g hw
  rw [← h2]; exact hh c (by rw [h1]; simp) q hq

/-- While an engine still has to issue an instance of an epoch, nothing of a later epoch has completed. -/
theorem completed_in_epoch {W : Nat} {D : DepRel E Q} {l : List (Option (Instance E Q))} (hW : EpochsFit W l)
    (hh : Hosted host (withoutBarriers l)) (hs : ∀ c ∈ withoutBarriers l, c.counter.isSome = true)
    {x : List (Event E Q)} (hx : AllFollow D (withoutBarriers l) [] x)
    (hi : WaitsHold host (fencedStreams D l) (counts x)) {e : E} {c : Instance E Q} {g b : Q → Nat}
    (hw : (epochStreams D l e)[issued e x]? = some (c, g, b)) (q : Q) : completed q x < b q + W := by
  obtain ⟨l1, l2, hl, he, hn, _, hb⟩ := (epochFrom_get D e l [] [] _ c g b).mp hw
  obtain ⟨u, v, hu, hbar⟩ := split_block l1
  obtain ⟨v2, w, hv2, hend⟩ := next_block l2
  have hblock := hW u (v ++ c :: v2) w (by rw [hl, hu, hv2]; simp) q
  have hT : withoutBarriers l = (withoutBarriers u ++ (v ++ c :: v2)) ++ withoutBarriers w := by
    rw [hl, hu, hv2]
    have : some c :: (v2.map some ++ w) = [some c] ++ (v2.map some ++ w) := rfl
    rw [this]
    simp only [withoutBarriers_append, withoutBarriers_map, List.append_assoc]
    simp [withoutBarriers]
  have hbq : b q = signals q (withoutBarriers u) := by rw [hb, hbar]
  suffices h : completed q x ≤ signals q (withoutBarriers u ++ (v ++ c :: v2)) by
    rw [signals_append] at h; omega
  refine Nat.le_trans ((follow_bounds hx).1 q) ?_
  refine Classical.byContradiction (fun hgt => ?_)
  have hgt : signals q (withoutBarriers u ++ (v ++ c :: v2)) < started q x := by omega
  rcases hend with rfl | ⟨w', rfl⟩
  · have := started_le_signals hh hx q
    rw [hT] at this
    simp [withoutBarriers] at this hgt
    omega
  · -- an instance `p` of a later epoch has started, so `c`, which was before the barrier, has completed
    have hTw : withoutBarriers (none :: w') = withoutBarriers w' := rfl
    rw [hTw] at hT
    have hle := started_le_signals hh hx q
    obtain ⟨pre, p, post, hTp, hpq, hpn⟩ := split_at_signal q (withoutBarriers l)
      (signals q (withoutBarriers u ++ (v ++ c :: v2))) (by omega)
    have hissued := issued_of_started hh hx hTp hpq (by omega)
    have hcs := hs c (by rw [hT]; simp)
    obtain ⟨qc, hqc⟩ := Option.isSome_iff_exists.mp hcs
    -- where `p` is in `l`
    have hpget : (onEngine p.engine (withoutBarriers l))[turns p.engine pre]? = some p :=
      (onEngine_get_iff _ _ _ _).mpr ⟨pre, post, hTp, rfl, rfl⟩
    have hstream := fenced_issues D l p.engine (turns p.engine pre)
    rw [hpget] at hstream
    simp only [Option.map_eq_some_iff] at hstream
    obtain ⟨⟨p', gp⟩, hpw, hpp⟩ := hstream
    simp only at hpp
    subst hpp
    obtain ⟨g2, b2, hpe, hgp⟩ := (fenced_get D l _ _ _ gp).mp hpw
    obtain ⟨m1, m2, hm, _, hmn, _, hb2⟩ := (epochFrom_get D _ l [] [] _ _ g2 b2).mp hpe
    have hTm : withoutBarriers l = withoutBarriers m1 ++ p' :: withoutBarriers m2 := by
      rw [hm, withoutBarriers_append]; simp [withoutBarriers]
    have hpre := (split_unique hTp hTm rfl rfl hmn.symm).1
    -- `m1` reaches beyond the barrier
    have hlen : ∃ m0, m1 = (l1 ++ some c :: v2.map some) ++ none :: m0 := by
      have hll : (l1 ++ some c :: v2.map some) ++ none :: w' = m1 ++ some p' :: m2 := by
        rw [← hm, hl, hv2]; simp
      rcases List.append_eq_append_iff.mp hll with ⟨a, h1, h2⟩ | ⟨a, h1, h2⟩
      · cases a with
        | nil => simp at h2
        | cons y a => simp at h2; obtain ⟨rfl, h2⟩ := h2; exact ⟨a, h1⟩
      · exfalso
        have h3 : signals q pre < signals q (withoutBarriers u ++ (v ++ c :: v2)) := by
          have h4 : withoutBarriers (l1 ++ some c :: v2.map some) = withoutBarriers u ++ (v ++ c :: v2) := by
            have : some c :: v2.map some = [some c] ++ v2.map some := rfl
            rw [hu, this]
            simp only [withoutBarriers_append, withoutBarriers_map, List.append_assoc]
            simp [withoutBarriers]
          rw [← h4, h1, withoutBarriers_append, hpre]
          cases a with
          | nil => simp at h2
          | cons y a =>
            simp at h2
            obtain ⟨rfl, _⟩ := h2
            simp [withoutBarriers, signals_cons, hpq]
        omega
    obtain ⟨m0, hm0⟩ := hlen
    have hb2q : signals qc (withoutBarriers l1 ++ [c]) ≤ b2 qc := by
      rw [hb2, hm0, lastBarrier_append]
      simp only [lastBarrier]
      refine Nat.le_trans ?_ (le_lastBarrier qc m0 _ _ (Nat.le_refl _))
      have : some c :: v2.map some = [some c] ++ v2.map some := rfl
      rw [this]
      simp only [withoutBarriers_append, List.nil_append, signals_append]
      simp [withoutBarriers]
    have hdone := hi.2.2 p'.engine _ _ _ hissued hpw qc
    have hc1 : signals qc (withoutBarriers l1) < completed qc x := by
      rw [hgp] at hdone
      simp only [counts] at hdone
      simp [signals_cons, hqc] at hb2q
      omega
    have hTc : withoutBarriers l = withoutBarriers l1 ++ c :: (v2 ++ withoutBarriers w') := by
      rw [hT, hu]; simp [withoutBarriers_append, withoutBarriers_map]
    have := issued_of_started hh hx hTc hqc (Nat.lt_of_lt_of_le hc1 ((follow_bounds hx).1 qc))
    rw [he] at this
    omega

/-- The modular comparison is the comparison. -/
theorem modular_compare {W g b k : Nat} (hb : b ≤ k) (hk : k < b + W) : g - b ≤ (k - b) % W ↔ g ≤ k := by
  rw [Nat.mod_eq_of_lt (by omega)]; omega

/-- Semaphores of `W` values behave like unbounded ones, if no epoch has `W` or more signals of one counter. -/
theorem width_bisim {W : Nat} (D : DepRel E Q) (l : List (Option (Instance E Q))) (hW : EpochsFit W l)
    (hh : Hosted host (withoutBarriers l)) (hs : ∀ c ∈ withoutBarriers l, c.counter.isSome = true) :
    Bisimilar (WidthMachine W D l) (Guarded (fencedStreams D l)) := by
  have follow : ∀ {x : List (Event E Q)} {o : Option (Event E Q)} {s' : Counts E Q},
      AllFollow D (withoutBarriers l) [] x → GuardedStep (fencedStreams D l) (counts x) o s' →
      ∃ y, s' = counts y ∧ AllFollow D (withoutBarriers l) [] y := by
    intro x o s' hx hst
    cases o with
    | none => exact absurd hst guarded_no_silent
    | some a =>
      obtain ⟨h1, h2⟩ := (guardedStep_counts _ x a s').mp hst
      refine ⟨x ++ [a], h2, ?_⟩
      intro u b y e
      rcases append_cons_eq_snoc e.symm with ⟨_, rfl, rfl⟩ | ⟨y', _, h3⟩
      · cases b with
        | complete q => exact h1
        | issue c =>
          obtain ⟨g, hw, hg⟩ := h1
          obtain ⟨pre, post, hT, _, hn⟩ := (onEngine_get_iff _ _ _ _).mp ((fenced_issues D l).get hw)
          refine ⟨pre, post, hT, by simpa using hn, ?_⟩
          have hr := fenced_at_least D l _ _ c g hw pre post hT rfl hn
          simpa using (required_le_iff D pre c (fun q => completed q u)).mp (fun q => Nat.le_trans (hr q) (hg q))
      · exact hx u b y' h3.symm
  have same : ∀ {x : List (Event E Q)} {o : Option (Event E Q)} {s' : Counts E Q},
      AllFollow D (withoutBarriers l) [] x → WaitsHold host (fencedStreams D l) (counts x) →
      (WidthStep W D l (counts x) o s' ↔ GuardedStep (fencedStreams D l) (counts x) o s') := by
    intro x o s' hx hi
    constructor
    · intro h
      cases h with
      | complete q h => exact .complete q h
      | issue e c g b hw he hb hg =>
        refine .issue e c _ ((fenced_get D l _ _ _ _).mpr ⟨g, b, hw, rfl⟩) he ?_
        intro q
        have h1 := completed_in_epoch hW hh hs hx hi hw q
        have h2 := (modular_compare (hb q) h1).mp (hg q)
        have h3 := hb q
        exact Nat.max_le.mpr ⟨h2, h3⟩
    · intro h
      cases h with
      | complete q h => exact .complete q h
      | issue e c g' hw he hg =>
        obtain ⟨g, b, hw', rfl⟩ := (fenced_get D l _ _ _ _).mp hw
        have hle : ∀ q, g q ≤ (counts x).completed q ∧ b q ≤ (counts x).completed q :=
          fun q => Nat.max_le.mp (hg q)
        refine .issue e c g b hw' he (fun q => (hle q).2) ?_
        intro q
        exact (modular_compare (hle q).2 (completed_in_epoch hW hh hs hx hi hw' q)).mpr (hle q).1
  have hz : WaitsHold host (fencedStreams D l) (counts []) := waitsHold_zero _ _
  refine ⟨fun s t => s = t ∧ WaitsHold host (fencedStreams D l) s ∧ ∃ x, s = counts x ∧ AllFollow D (withoutBarriers l) [] x,
    ⟨rfl, hz, [], counts_nil.symm, by simp [AllFollow]⟩, ?_, ?_⟩
  · rintro s t ⟨rfl, hi, x, rfl, hx⟩ o s' hst
    have hg := (same hx hi).mp hst
    exact ⟨s', .of_step hg, rfl, waitsHold_step (fenced_hosted D l hh) hi hg, follow hx hg⟩
  · rintro t s ⟨rfl, hi, x, rfl, hx⟩ o t' hst
    exact ⟨t', .of_step ((same hx hi).mpr hst), rfl, waitsHold_step (fenced_hosted D l hh) hi hst, follow hx hst⟩

/-- Every schedule of the machine with finite semaphores and epochs is correct. -/
theorem width_sound {W : Nat} (D : DepRel E Q) (l : List (Option (Instance E Q))) (hW : EpochsFit W l)
    (hh : Hosted host (withoutBarriers l)) (hs : ∀ c ∈ withoutBarriers l, c.counter.isSome = true)
    (tr : List (Event E Q)) (h : Traces (WidthMachine W D l) tr) :
    InOrder (withoutBarriers l) tr ∧ Respects D (withoutBarriers l) tr :=
  at_least_sound (fenced_issues D l) (fenced_at_least D l) tr (((width_bisim D l hW hh hs).traces tr).mp h)

theorem fenced_of_no_barrier (D : DepRel E Q) (e : E) (T pre : List (Instance E Q)) :
    fencedFrom D e [] pre (T.map some) = requiredFrom D e pre T := by
  induction T generalizing pre with
  | nil => rfl
  | cons c t ih => simp only [List.map_cons, fencedFrom, requiredFrom]; split <;> simp [ih]

/-- Within one epoch finite width costs nothing: the machine is bisimilar to the specification. -/
theorem width_exact {W : Nat} (D : DepRel E Q) (T : List (Instance E Q)) (hW : ∀ q, signals q T < W)
    (hh : Hosted host T) (hs : ∀ c ∈ T, c.counter.isSome = true) :
    Bisimilar (WidthMachine W D (T.map some)) (Spec D T) := by
  have hfit : EpochsFit W (T.map some) := by
    intro u v w h q
    have h1 : withoutBarriers (T.map some) = withoutBarriers (u ++ v.map some ++ w) := by rw [h]
    rw [withoutBarriers_map, withoutBarriers_append, withoutBarriers_append, withoutBarriers_map] at h1
    have := hW q
    rw [h1] at this
    simp at this
    omega
  have h1 := width_bisim (host := host) D (T.map some) hfit (by rw [withoutBarriers_map]; exact hh)
    (by rw [withoutBarriers_map]; exact hs)
  have h2 : fencedStreams D (T.map some) = requiredStreams D T := by
    funext e; exact fenced_of_no_barrier D e T []
  rw [h2] at h1
  exact h1.trans (spec_bisim_guarded D T).symm

end Headway
end
