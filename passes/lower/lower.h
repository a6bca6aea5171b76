/* lower.h - forms: what a real value is in terms of integers
 *
 * A form says that a real value x is
 *     x = min (max (a[c] * u + b[c], lo), hi)
 * where u is either an integer value of the lowered graph (q) or the result of
 * an operation that has not been emitted yet (op): a weighted op, whose u is
 * the int32 accumulator, or an op that can write integers of any quantization
 * once somebody says which (Add, AvgPool, ...). c runs along @axis.
 *
 * Convert, and arithmetic with constants, only change a and b; ReLU and Clamp
 * only lo and hi; FakeQuantize asks for codes; everybody else asks for the real
 * value or for the integers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LOWER_H
#define LOWER_H

#include <lpt/lpt-pass.h>

typedef struct _LptForm    LptForm;
typedef struct _LptPending LptPending;
typedef struct _LptLower   LptLower;

/* What a FakeQuantize asks for: code = clamp (round (x / step[c] + offset[c]), qmin, qmax), of @dtype. */
typedef struct
{
  LptDType dtype;
  gint     axis;            /* LPT_QUANT_PER_TENSOR: n = 1 */
  guint    n;
  double  *step;            /* > 0 */
  double  *offset;          /* fractional */
  gint32   qmin, qmax;
  gboolean away;            /* a Quantize of the graph's mode rounds ties away from 0, not to even */
  double   read;            /* > 0: with several steps, one with which the codes (of the first channel) are read,
                               and its zero point; an op that multiplies per channel anyway may write codes of that
                               quantization */
  gint32   read_zero;
} LptCodes;

/* An op that waits for its consumer to say what it writes. */
struct _LptPending
{
  guint      refs;
  LptNode   *node;          /* of the source graph */
  LptForm  **in;            /* forms of its data inputs, owned */
  guint      n_in;
  LptValue  *value;         /* int32 accumulator, once somebody needed it ... */
  double    *bias;          /* ... and what was added to it, in its own steps, one per channel of the form that asked */
  guint      n_bias;
  /* Emits the op so that it writes @codes of a * u + b; NULL when it cannot. */
  LptValue *(*emit) (LptLower *lw, LptForm *form, const LptCodes *codes);
  /* Emits the int32 accumulator into value and bias; NULL = the op has none. FALSE when it cannot. */
  gboolean  (*accumulate) (LptLower *lw, LptForm *form);
};

struct _LptForm
{
  LptValue   *q;            /* or */
  LptPending *op;
  gint        axis;
  guint       n;
  double     *a, *b;        /* n values each */
  double      lo, hi;
  gboolean    shared;       /* more than one reader on the way: an op must not be emitted for one alone */
  LptNode    *added, *scaled, *bounded;   /* the last source nodes that changed b, a, and lo and hi; NULL = none */
};

struct _LptLower
{
  LptRewriter *rw;
  LptGraph    *graph;
  GHashTable  *forms;       /* LptValue * of the source -> LptForm * */
  GHashTable  *reals;       /* LptValue * of the source -> LptValue * that has it as a real value */
  gboolean     raised;      /* what was on integers goes back to them, nothing else does */
  gboolean     integers;    /* the source has ops on codes */
  GHashTable  *types;       /* LptInput * -> LptDType in the source */
};

/* --- forms (forms.c) --- */

LptForm  *lpt_form_new_value (LptValue *q, gint axis, guint n, const double *a, const double *b);
LptForm  *lpt_form_new_op    (LptPending *op, gint axis, guint n, const double *a, const double *b);
LptForm  *lpt_form_copy      (const LptForm *form);
/* Weights of groups [G, O, I, ...] with a scale for each group, or one for each output channel that all groups share,
 * get one for each of the @channels of @node; others are copied (transfer full). */
LptForm  *lpt_form_spread_groups (const LptForm *form, LptNode *node, gint64 channels);
void      lpt_form_free      (LptForm *form);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptForm, lpt_form_free)

LptPending *lpt_pending_new  (LptNode *node, guint n_in);

static inline double lpt_form_a (const LptForm *form, guint c) { return form->a[form->n == 1 ? 0 : c]; }
static inline double lpt_form_b (const LptForm *form, guint c) { return form->b[form->n == 1 ? 0 : c]; }
static inline gboolean lpt_form_is_clamped (const LptForm *form) { return form->lo > -G_MAXDOUBLE || form->hi < G_MAXDOUBLE; }

/* A constant along one axis: x * scale + shift for every c. FALSE when that does not fit one axis,
 * a clamp is in the way, or the result is not finite. */
gboolean  lpt_form_affine     (LptForm *form, gint axis, guint n, const double *scale, const double *shift);
/* The constant operand of an elementwise op of output shape @shape as a list along one axis; FALSE when it varies along
 * several. */
gboolean  lpt_constant_along  (LptTensor *tensor, const LptShape *shape, gint *axis, guint *n, double **values);
gboolean  lpt_form_is_8bit    (const LptForm *form);
/* Is each bound one of the 8-bit integers of the form, or beyond them all? */
gboolean  lpt_form_clamps_at_codes (const LptForm *form);

/* --- asking for values (emit.c, real.c, codes.c) --- */

/* Form of input @i of a source node, or NULL. Borrowed. */
LptForm  *lpt_lower_form      (LptLower *lw, LptNode *node, guint i);
/* Takes @form over as the form of @value. */
void      lpt_lower_set_form  (LptLower *lw, LptValue *value, LptForm *form);
/* The real value of input @i: the source's own, or dequantized. */
LptValue *lpt_lower_real      (LptLower *lw, LptValue *value);
/* The same for an input: integers that stand for nothing and are read as f32 become real by a Convert. */
LptValue *lpt_lower_real_in   (LptLower *lw, const LptInput *in);
/* The form over emitted integers: itself, or over its int32 accumulator; NULL when there is neither (transfer full). */
LptForm  *lpt_lower_raw       (LptLower *lw, LptForm *form);
/* 8-bit integers of the form with an LptQuant that says exactly a * q + b (a Reinterpret, Relu or Clamp is added
 * where needed); NULL when there is no such 8-bit value, or the clamp's bounds lie beyond all of its integers. */
LptValue *lpt_lower_integers  (LptLower *lw, LptForm *form);
/* The clamp of 8-bit integers becomes a node on them, its bounds the nearest integers; a and b stay. FALSE: it stays in
 * the form. */
gboolean  lpt_lower_settle_clamp (LptLower *lw, LptForm *form);
/* A copy for one reader whose clamp is such a node where it can be; readers share it where rounding changes no bound
 * (transfer full). */
LptForm  *lpt_lower_settled   (LptLower *lw, LptForm *form);
/* The codes that @codes asks for, from whatever @form is; NULL when only a real value can give them. */
LptValue *lpt_lower_codes     (LptLower *lw, LptForm *form, const LptCodes *codes);
/* The same from any source value: by its form, else by Quantize. Never NULL. */
LptValue *lpt_lower_quantize  (LptLower *lw, LptValue *value, const LptCodes *codes);

/* May @node run on the integers that the forms of its first @n_data inputs are? FALSE: its restriction does not allow
 * them, and it is told so. Inputs without integers yet are judged when the op is emitted. */
gboolean  lpt_lower_may       (LptLower *lw, LptNode *node, guint n_data);
/* The same of codes of @dtype that are yet to be made, of one scale. */
gboolean  lpt_lower_may_codes (LptLower *lw, LptNode *node, guint n_data, LptDType dtype);
/* A copy of source node @node that reads @in; takes its name. Output types are the caller's. NULL: its restriction does
 * not allow these integers. */
LptNode  *lpt_lower_emit      (LptLower *lw, LptNode *node, guint n_in, LptValue *const *in);
/* The same on real values. */
LptNode  *lpt_lower_emit_real (LptLower *lw, LptNode *node, guint n_in, LptValue *const *in);
/* New node of a lowered op. */
LptValue *lpt_lower_convert   (LptLower *lw, LptOp op, LptValue *value, const char *base, LptDType dtype, LptQuant *quant);
/* a * q + b of a form over @dtype as an LptQuant; the zero points are the nearest of the type and what they leave goes
 * to
 * @rest (real, form->n values; NULL = fail when it is not negligible). NULL when scales or zero points do not fit. */
LptQuant *lpt_form_quant      (const LptForm *form, LptDType dtype, double *rest);
/* The codes of @value with the quantization with which they were made: in front of all Reinterprets. */
LptValue *lpt_lower_seen_as   (LptValue *value);
/* @value read with @quant: itself, what it is a Reinterpret of, or behind a Reinterpret. */
LptValue *lpt_lower_with_quant (LptLower *lw, LptValue *value, LptQuant *quant);
/* A zero point that lies between two codes, but for what float32 rounds. */
#define LPT_SAME_TIE 1e-4
/* The zero point nearest to that of channel @c of @form. Of two that are as near the one that its codes have, else the
 * even one. */
double    lpt_form_zero (const LptForm *form, guint c);

/* The same scales (but for what float32 rounds), zero points and axis; @a may be NULL. */
gboolean  lpt_lower_same_quant (const LptQuant *a, const LptQuant *b);
gboolean  lpt_form_is_positive (const LptForm *form);      /* every scale is */
/* Nodes behind @value: bounds in real numbers (Relu or Clamp); another real type; + or * a constant along @axis, in
 * f32.
 * @source: what they are made of, or NULL. */
LptValue *lpt_lower_emit_clamp (LptLower *lw, LptValue *value, double lo, double hi, LptNode *source);
LptValue *lpt_lower_emit_convert (LptLower *lw, LptValue *value, LptDType dtype);
LptValue *lpt_lower_emit_arithmetic (LptLower *lw, LptOp op, LptValue *value, gint axis, guint n, const double *constant,
                                     LptNode *source);
/* @node is what became of @source (NULL = of nothing). */
void      lpt_lower_stands_for (LptLower *lw, LptNode *node, LptNode *source);
/* Quantization for @codes: one step for all gives (step, round (offset)); per channel gives LptQuant along the axis. */
LptQuant *lpt_codes_quant     (const LptCodes *codes);

/* May @shift[c], in steps of @codes, change a code of the sum or product of integers @in (shift.c)? */
gboolean  lpt_shift_shows     (LptOp op, LptValue *const in[2], const LptCodes *codes, guint n, const double *shift);
/* Is all of @shift, which addition @node, made by no rewrite, adds to what has @form, so little that the codes would
 * lose it, and does anybody read the sum as a real number? */
gboolean  lpt_loses_shift     (const LptNode *node, const LptForm *form, guint n, const double *shift);

/* --- rules: TRUE = the node's outputs have forms now (rules-*.c) --- */

typedef gboolean (*LptLowerRule) (LptLower *lw, LptNode *node);

LptLowerRule lpt_lower_rule (LptOp op);
/* Of a raised graph: an op without rule of its own that eval has on integers goes back to them. */
gboolean     lpt_lower_raised (LptLower *lw, LptNode *node);
/* Was @node of a raised graph, which has two inputs, the sum or product of two codes? One may be constant: it is no
 * shift and no factor then. A product's bias is a constant behind its real result. */
gboolean     lpt_lower_was_pair (const LptLower *lw, const LptNode *node);
/* Of other graphs: an op whose codes LiteRT's specification fixes goes to them where its arithmetic is asked for. */
gboolean     lpt_lower_fixed  (LptLower *lw, LptNode *node);

#define LPT_LOWER(OP, rule) gboolean lpt_lower_##rule (LptLower *lw, LptNode *node);
#include "passes/lower/lower-rules.def"

/* Of a raised graph: a product whose data had a computed zero point has it again (computed-zero.c). */
gboolean lpt_lower_computed_zero       (LptLower *lw, LptNode *node);
/* zero-points.c: by how much of a step rounding moves the zero point that is farthest from a whole number. */
double   lpt_lower_zero_point_fraction (const LptForm *form);
/* Can a bias take what rounding the zero points of the data leaves? */
gboolean lpt_lower_zero_point_has_sum  (LptNode *node, const LptForm *w);
gboolean lpt_lower_zero_point_shows    (LptNode *node, const LptForm *form);
/* Then it is added to @real[o], one for each of @channels from here on: @n of them. */
void     lpt_lower_zero_point_rest     (LptNode *node, const LptForm *x, const LptForm *w, gint64 channels,
                                        double **real, guint *n);

#endif
