module
public import Headway.Outline
@[expose] public noncomputable section

/-!
# Facts: what each engine knows in a joint run

All engines are run jointly, beside the sequential program: `Move`s are what others can notice of them. A `Mark` stands for the last access of a
counter to a slot. `Facts` say of marks which engine knows them to be complete, and which position of which counter tells them: whoever
has waited for it knows them. Ages, distances and registers are names for positions here.

* `Knows`: what an engine knows from the moves so far. `knows_known`: under the placement that the moves are it is known (file `Acceptable`).
* One lemma for each rule by which a certificate follows the facts: `beginning_holds`, `waited_holds`, `issued_holds`, `tells_mono`, `weaker_holds`,
  `cover_knows`.

The order that the hardware keeps is written as a wait here as well: an engine that does one thing at a time waits for its own last signal.
-/

set_option autoImplicit false

namespace Headway

variable {E Q : Type} [DecidableEq E] [DecidableEq Q] {host : Q → E}

/-! ## Moves of a joint run -/

/-- What one engine does next, as far as others can notice it. -/
inductive Move (E Q : Type) where
  | wait (e : E) (q : Q) (x : Nat)
  | issue (c : Instance E Q)

/-- The instances among moves: a part of the sequential reference. -/
def issues : List (Move E Q) → List (Instance E Q)
  | [] => []
  | .wait _ _ _ :: t => issues t
  | .issue c :: t => c :: issues t

/-- The part of engine `e`. -/
def effectsOf (e : E) : List (Move E Q) → List (Effect E Q)
  | [] => []
  | .wait a q x :: t => if a = e then .wait q x :: effectsOf e t else effectsOf e t
  | .issue c :: t => if c.engine = e then .issue c :: effectsOf e t else effectsOf e t

/-- The waits that each engine has passed since its last instance, after more moves. -/
def passed (p : E → List (Q × Nat)) : List (Move E Q) → E → List (Q × Nat)
  | [] => p
  | .wait e q x :: t => passed (update p e ((q, x) :: p e)) t
  | .issue c :: t => passed (update p c.engine []) t

/-- The instances of moves with their thresholds. -/
def annotate (p : E → List (Q × Nat)) : List (Move E Q) → Annotated E Q
  | [] => []
  | .wait e q x :: t => annotate (update p e ((q, x) :: p e)) t
  | .issue c :: t => (c, threshold (p c.engine)) :: annotate (update p c.engine []) t

/-- The placement that the moves are. -/
def placement (h : List (Move E Q)) : Annotated E Q := annotate (fun _ => []) h

theorem issues_append (a b : List (Move E Q)) : issues (a ++ b) = issues a ++ issues b := by
  induction a with
  | nil => rfl
  | cons x t ih => cases x <;> simp [issues, ih]

theorem passed_append (p : E → List (Q × Nat)) (a b : List (Move E Q)) :
    passed p (a ++ b) = passed (passed p a) b := by
  induction a generalizing p with
  | nil => rfl
  | cons x t ih => cases x <;> simp [passed, ih]

theorem annotate_append (p : E → List (Q × Nat)) (a b : List (Move E Q)) :
    annotate p (a ++ b) = annotate p a ++ annotate (passed p a) b := by
  induction a generalizing p with
  | nil => rfl
  | cons x t ih => cases x <;> simp [annotate, passed, ih]

theorem annotate_map (p : E → List (Q × Nat)) (h : List (Move E Q)) : (annotate p h).map Prod.fst = issues h := by
  induction h generalizing p with
  | nil => rfl
  | cons x t ih => cases x <;> simp [annotate, issues, ih]

/-- The streams of the placement are those of the engines' parts. -/
theorem group_effectsOf (p : E → List (Q × Nat)) (e : E) (h : List (Move E Q)) :
    group (p e) (effectsOf e h) = streamsOf (annotate p h) e := by
  induction h generalizing p with
  | nil => rfl
  | cons x t ih =>
    cases x with
    | wait a q x =>
      simp only [effectsOf, annotate]
      by_cases ha : a = e
      · subst ha
        rw [if_pos rfl, group, ← ih, update_same]
      · rw [if_neg ha, ← ih, update_ne _ _ (Ne.symm ha)]
    | issue c =>
      simp only [effectsOf, annotate]
      by_cases hc : c.engine = e
      · subst hc
        rw [if_pos rfl, group]
        have := ih (update p c.engine [])
        rw [update_same] at this
        rw [this]
        simp [streamsOf]
      · rw [if_neg hc]
        have := ih (update p c.engine [])
        rw [update_ne _ _ (Ne.symm hc)] at this
        rw [this]
        simp [streamsOf, hc]

/-- An entry of the placement is an instance among the moves. -/
theorem annotate_place {p : E → List (Q × Nat)} {h : List (Move E Q)} {la lb : Annotated E Q} {c : Instance E Q}
    {g : Q → Nat} (hs : annotate p h = la ++ (c, g) :: lb) :
    ∃ a b, h = a ++ .issue c :: b ∧ issues a = la.map Prod.fst ∧ g = threshold (passed p a c.engine) := by
  induction h generalizing p la with
  | nil => simp [annotate] at hs
  | cons x t ih =>
    cases x with
    | wait e q x =>
      obtain ⟨a, b, h1, h2, h3⟩ := ih hs
      exact ⟨.wait e q x :: a, b, by simp [h1], by simp [issues, h2], by simpa [passed] using h3⟩
    | issue c' =>
      cases la with
      | nil =>
        simp only [annotate, List.nil_append, List.cons.injEq, Prod.mk.injEq] at hs
        obtain ⟨⟨rfl, rfl⟩, _⟩ := hs
        exact ⟨[], t, rfl, rfl, rfl⟩
      | cons y la =>
        simp only [annotate, List.cons_append, List.cons.injEq] at hs
        obtain ⟨rfl, hs⟩ := hs
        obtain ⟨a, b, h1, h2, h3⟩ := ih hs
        exact ⟨.issue c' :: a, b, by simp [h1], by simp [issues, h2], by simpa [passed] using h3⟩

theorem le_threshold {ws : List (Q × Nat)} {q : Q} {x : Nat} (h : (q, x) ∈ ws) : x ≤ threshold ws q :=
  (threshold_le_iff ws q _).mp (Nat.le_refl _) (q, x) h rfl

/-! ## What an engine knows -/

/-- After the moves `h` engine `e` knows that `k` signals of `q` have arrived. -/
inductive Knows : List (Move E Q) → E → Q → Nat → Prop
  | zero {h e q} : Knows h e q 0
  /-- It has waited for them. -/
  | waited {h : List (Move E Q)} {e : E} {q : Q} {x k : Nat} : Move.wait e q x ∈ h → k ≤ x → Knows h e q k
  /-- It has seen a signal, and the engine behind the signal knew it when it issued. -/
  | through {h a b : List (Move E Q)} {c : Instance E Q} {e : E} {p q : Q} {j k : Nat} : h = a ++ .issue c :: b →
      c.counter = some p → signals p (issues a) < j → Knows h e p j → Knows a c.engine q k → Knows h e q k

theorem Knows.extend {h : List (Move E Q)} {e : E} {q : Q} {k : Nat} (hk : Knows h e q k) (l : List (Move E Q)) :
    Knows (h ++ l) e q k := by
  induction hk with
  | zero => exact .zero
  | waited hm hx => exact .waited (List.mem_append_left _ hm) hx
  | @through h a b c e p q j k hs hc hj _ hq ih _ =>
    exact .through (b := b ++ l) (by rw [hs]; simp) hc hj ih hq

theorem Knows.down {h : List (Move E Q)} {e : E} {q : Q} {k : Nat} (hk : Knows h e q k) :
    ∀ k', k' ≤ k → Knows h e q k' := by
  induction hk with
  | zero => intro k' h; rw [Nat.le_zero.mp h]; exact .zero
  | waited hm hx => intro k' h; exact .waited hm (Nat.le_trans h hx)
  | through hs hc hj h1 _ _ ih => intro k' h; exact .through hs hc hj h1 (ih k' h)

/-- A wait that has been passed is a threshold of an instance since, or of the next one. -/
theorem waited_place {ms : List (Move E Q)} (h : List (Move E Q)) : ∀ rest, ms = h ++ rest →
    ∀ (e : E) (q : Q) (x : Nat), Move.wait e q x ∈ h → (q, x) ∈ passed (fun _ => []) h e ∨
      ∃ m c g, m < turns e (issues h) ∧ (streamsOf (placement ms) e)[m]? = some (c, g) ∧ x ≤ g q := by
  induction h using snoc_induction with
  | nil => intro rest _ e q x hm; simp at hm
  | snoc h mv ih =>
    intro rest hs e q x hm
    have ih := ih (mv :: rest) (by simp [hs])
    rw [passed_append, issues_append]
    cases mv with
    | wait a p y =>
      simp only [passed, issues, List.append_nil]
      simp only [List.mem_append, List.mem_singleton, Move.wait.injEq] at hm
      rcases hm with hm | ⟨rfl, rfl, rfl⟩
      · rcases ih e q x hm with h1 | h1
        · refine .inl ?_
          by_cases ha : e = a
          · subst ha; rw [update_same]; exact List.mem_cons_of_mem _ h1
          · rw [update_ne _ _ ha]; exact h1
        · exact .inr h1
      · rw [update_same]; exact .inl List.mem_cons_self
    | issue c =>
      simp only [passed, issues]
      simp only [List.mem_append, List.mem_singleton, reduceCtorEq, or_false] at hm
      rw [turns_append, turns_cons]
      rcases ih e q x hm with h1 | ⟨m, c', g, h1, h2, h3⟩
      · by_cases hc : e = c.engine
        · subst hc
          refine .inr ⟨turns c.engine (issues h), c, threshold (passed (fun _ => []) h c.engine), by simp, ?_, le_threshold h1⟩
          have := streamsOf_get (annotate (fun _ => []) h) c (threshold (passed (fun _ => []) h c.engine))
            (annotate (update (passed (fun _ => []) h) c.engine []) rest)
          rw [annotate_map] at this
          rw [placement, hs, List.append_assoc, annotate_append]
          exact this
        · rw [update_ne _ _ hc]; exact .inl h1
      · exact .inr ⟨m, c', g, by omega, h2, h3⟩

/-- What an engine knows from the moves is known under the placement to its next instance. -/
theorem knows_known {ms : List (Move E Q)} (hh : Hosted host (issues ms)) {h : List (Move E Q)} {e : E} {q : Q} {k : Nat}
    (hk : Knows h e q k) : ∀ c rest, ms = h ++ .issue c :: rest → c.engine = e →
      Known host (streamsOf (placement ms)) e (turns e (issues h)) q k := by
  have entry : ∀ (a : List (Move E Q)) (c : Instance E Q) (rest : List (Move E Q)), ms = a ++ .issue c :: rest →
      (streamsOf (placement ms) c.engine)[turns c.engine (issues a)]? =
        some (c, threshold (passed (fun _ => []) a c.engine)) := by
    intro a c rest hs
    have := streamsOf_get (annotate (fun _ => []) a) c (threshold (passed (fun _ => []) a c.engine))
      (annotate (update (passed (fun _ => []) a) c.engine []) rest)
    rw [annotate_map] at this
    rw [placement, hs, annotate_append]
    exact this
  induction hk with
  | zero => intro c rest _ _; exact .zero
  | @waited h e q x k hm hx =>
    intro c rest hs he
    rcases waited_place h (.issue c :: rest) hs e q x hm with h1 | ⟨m, c', g, h1, h2, h3⟩
    · subst he
      exact .own (entry h c rest hs) (Nat.le_trans hx (le_threshold h1))
    · exact .earlier (Nat.le_of_lt h1) (.own h2 (Nat.le_trans hx h3))
  | @through h a b c' e p q j k hsplit hc hj _ _ ih1 ih2 =>
    intro c rest hs he
    have hs' : ms = a ++ .issue c' :: (b ++ .issue c :: rest) := by rw [hs, hsplit]; simp
    have hp : c'.engine = host p := hh c' (by rw [hs', issues_append]; simp [issues]) p hc
    have hget := entry a c' _ hs'
    have h2 := ih2 c' _ hs' rfl
    rw [hp] at hget h2
    refine .through (ih1 c rest hs he) hget hc ?_ h2
    have hL : placement ms = annotate (fun _ => []) a ++ annotate (passed (fun _ => []) a) (.issue c' :: (b ++ .issue c :: rest)) := by
      rw [placement, hs', annotate_append]
    have h3 := streamsOf_before p (annotate (fun _ => []) a)
      (annotate (passed (fun _ => []) a) (.issue c' :: (b ++ .issue c :: rest))) (host p)
    rw [← hL, annotate_map] at h3
    have h4 : Hosted host (issues a) := fun y hy => hh y (by rw [hs', issues_append]; exact List.mem_append_left _ hy)
    rw [h3, signals_onEngine h4]
    exact hj

/-! ## Marks and facts -/

/-- The last access, on one counter, of a kind to a slot: `touches` tells which instances are such accesses. -/
structure Mark (E Q : Type) where
  counter : Q
  touches : Instance E Q → Bool

/-- Where it is; 0 if there was none. -/
def Mark.position (m : Mark E Q) (pre : List (Instance E Q)) : Nat := lastPosition m.counter m.touches pre

/-- `c` moves the mark. -/
def Mark.Moved (m : Mark E Q) (c : Instance E Q) : Prop := c.counter = some m.counter ∧ m.touches c = true

theorem Mark.position_moved {m : Mark E Q} {c : Instance E Q} (h : m.Moved c) (pre : List (Instance E Q)) :
    m.position (pre ++ [c]) = signals m.counter pre + 1 := by
  simp only [Mark.position, lastPosition_snoc]
  exact if_pos h

theorem Mark.position_kept {m : Mark E Q} {c : Instance E Q} (h : ¬ m.Moved c) (pre : List (Instance E Q)) :
    m.position (pre ++ [c]) = m.position pre := by
  simp only [Mark.position, lastPosition_snoc]
  exact if_neg h

/-- Position `x` of counter `q` tells the mark: whoever has waited for it, or for a later one, now or later, knows the mark to be complete. -/
def Tells (h : List (Move E Q)) (q : Q) (x : Nat) (m : Mark E Q) : Prop :=
  ∀ l e j, x ≤ j → Knows (h ++ l) e q j → Knows (h ++ l) e m.counter (m.position (issues h))

/-- What a state says of marks. -/
structure Facts (E Q : Type) where
  known : E → Mark E Q → Prop
  tells : Q → Nat → Mark E Q → Prop

/-- It is so after the moves `h`. -/
def Holds (h : List (Move E Q)) (f : Facts E Q) : Prop :=
  (∀ e m, f.known e m → Knows h e m.counter (m.position (issues h))) ∧ ∀ q x m, f.tells q x m → Tells h q x m

/-- At first everything is complete. -/
def Facts.beginning : Facts E Q := ⟨fun _ _ => True, fun _ _ _ => True⟩

/-- After a wait the engine knows what the position tells, or an earlier one. -/
def Facts.waited (f : Facts E Q) (e : E) (q : Q) (x : Nat) : Facts E Q :=
  ⟨fun a m => f.known a m ∨ a = e ∧ ∃ y, y ≤ x ∧ f.tells q y m, f.tells⟩

/-- After an instance: its marks have moved, nobody knows them, and nothing tells them but its signal; that tells all that its engine knew. `pre`
is what came before it. -/
def Facts.issued (f : Facts E Q) (pre : List (Instance E Q)) (c : Instance E Q) : Facts E Q :=
  ⟨fun e m => f.known e m ∧ ¬ m.Moved c,
   fun q x m => f.tells q x m ∧ ¬ m.Moved c ∨
    c.counter = some q ∧ x = signals q pre + 1 ∧ (f.known c.engine m ∨ m.Moved c)⟩

/-- `f'` says no more than `f`. -/
def Facts.Weaker (f f' : Facts E Q) : Prop :=
  (∀ e m, f'.known e m → f.known e m) ∧ ∀ q x m, f'.tells q x m → ∃ y, y ≤ x ∧ f.tells q y m

/-! ## One lemma for each rule -/

/-- A later position tells all that an earlier one tells. -/
theorem tells_mono {h : List (Move E Q)} {q : Q} {x y : Nat} {m : Mark E Q} (ht : Tells h q x m) (hxy : x ≤ y) :
    Tells h q y m := fun l e j hj hk => ht l e j (Nat.le_trans hxy hj) hk

theorem beginning_holds : Holds ([] : List (Move E Q)) .beginning :=
  ⟨fun _ _ _ => .zero, fun _ _ _ _ _ _ _ _ _ => .zero⟩

theorem weaker_holds {h : List (Move E Q)} {f f' : Facts E Q} (hw : f.Weaker f') (hf : Holds h f) : Holds h f' :=
  ⟨fun e m hm => hf.1 e m (hw.1 e m hm), fun q x m hm => by
    obtain ⟨y, hy, ht⟩ := hw.2 q x m hm
    exact tells_mono (hf.2 q y m ht) hy⟩

theorem waited_holds {h : List (Move E Q)} {f : Facts E Q} (hf : Holds h f) (e : E) (q : Q) (x : Nat) :
    Holds (h ++ [.wait e q x]) (f.waited e q x) := by
  have hi : issues (h ++ [.wait e q x]) = issues h := by rw [issues_append]; simp [issues]
  refine ⟨fun a m hm => ?_, fun p y m hm l a j hj hk => ?_⟩
  · rw [hi]
    rcases hm with hm | ⟨rfl, y, hy, ht⟩
    · exact (hf.1 a m hm).extend _
    · exact hf.2 q y m ht [.wait a q x] a x hy (.waited (by simp) (Nat.le_refl _))
  · rw [hi]
    rw [List.append_assoc] at hk ⊢
    exact hf.2 p y m hm _ a j hj hk

theorem issued_holds {h : List (Move E Q)} {f : Facts E Q} (hf : Holds h f) (c : Instance E Q) :
    Holds (h ++ [.issue c]) (f.issued (issues h) c) := by
  have hi : issues (h ++ [.issue c]) = issues h ++ [c] := by rw [issues_append]; simp [issues]
  have kept : ∀ m : Mark E Q, ¬ m.Moved c → m.position (issues (h ++ [.issue c])) = m.position (issues h) := by
    intro m hm
    rw [hi, Mark.position_kept hm]
  refine ⟨fun e m hm => ?_, fun q x m hm l e j hj hk => ?_⟩
  · rw [kept m hm.2]
    exact (hf.1 e m hm.1).extend _
  · by_cases hmoved : m.Moved c
    · rcases hm with hm | ⟨hq, hx, _⟩
      · exact absurd hmoved hm.2
      · have hmq : m.counter = q := by
          have := hmoved.1
          rw [hq] at this
          simpa using this.symm
        rw [hi, Mark.position_moved hmoved, hmq]
        exact hk.down _ (by omega)
    · rw [kept m hmoved]
      rcases hm with hm | ⟨hq, hx, hm⟩
      · rw [List.append_assoc] at hk ⊢
        exact hf.2 q x m hm.1 _ e j hj hk
      · rcases hm with hm | hm
        · exact .through (a := h) (b := l) (by simp) hq (by omega) hk (hf.1 _ m hm)
        · exact absurd hm hmoved

/-- What has to be known before `c` issues: all that it depends on is behind marks that are known. -/
def Facts.Cover (f : Facts E Q) (D : DepRel E Q) (c : Instance E Q) : Prop :=
  ∀ p q, D p c = true → p.counter = some q → ∃ m : Mark E Q, m.counter = q ∧ m.touches p = true ∧ f.known c.engine m

theorem lastPosition_attained (q : Q) (f : Instance E Q → Bool) (l : List (Instance E Q)) :
    lastPosition q f l = 0 ∨ ∃ a p b, l = a ++ p :: b ∧ p.counter = some q ∧ f p = true ∧ lastPosition q f l = signals q a + 1 := by
  induction l using snoc_induction with
  | nil => exact .inl rfl
  | snoc l x ih =>
    rw [lastPosition_snoc]
    split
    · rename_i h; exact .inr ⟨l, x, [], rfl, h.1, h.2, rfl⟩
    · rcases ih with ih | ⟨a, p, b, h1, h2, h3, h4⟩
      · exact .inl ih
      · exact .inr ⟨a, p, b ++ [x], by rw [h1]; simp, h2, h3, h4⟩

/-- Then the engine knows all that `c` requires. -/
theorem cover_knows {D : DepRel E Q} {h : List (Move E Q)} {f : Facts E Q} (hf : Holds h f) {c : Instance E Q}
    (hc : f.Cover D c) (q : Q) : Knows h c.engine q (required D (issues h) c q) := by
  rcases lastPosition_attained q (fun p => D p c) (issues h) with h0 | ⟨a, p, b, h1, h2, h3, h4⟩
  · rw [required, h0]; exact .zero
  · obtain ⟨m, hm, ht, hk⟩ := hc p q h3 h2
    have h5 := hf.1 c.engine m hk
    rw [hm] at h5
    refine h5.down _ ?_
    rw [required, h4]
    rw [← hm] at h2 ⊢
    exact (lastPosition_le_iff _ _ _ _).mp (Nat.le_refl (m.position (issues h))) a p b h1 h2 ht

end Headway
end
