/* lpt-operators.h - who gives ops their forms, and what forms share
 *
 * A form is prepared for the main op of those that it stands for; what it takes in of the ops around it is fused into
 * that one. FALSE: none of it, nothing is changed, and a remark says why (lpt_refuse()).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/operators/lpt-program-edit.h"
#include "executor/operators/remarks.h"

typedef gboolean (*LptOpPrepare) (LptProgram *program, LptProgramOp *op);

gboolean lpt_prepare_conv         (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_computed_conv (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_conv16       (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_deconv       (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_matmul       (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_matmul16     (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_batch_matmul (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_max_pool     (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_avg_pool     (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_reduce       (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_reduce_lines (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_binary       (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_extreme      (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_channel_tables (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_affine       (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_table        (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_quantize     (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_requantize   (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_requantize_words (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_dequantize   (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_arg          (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_dequantize_words (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_concat       (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_concat_tables (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_resize       (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_resize_lines (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_integer_softmax (LptProgram *program, LptProgramOp *op);
/* Of 16-bit codes. */
gboolean lpt_prepare_halves       (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_sum16        (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_product16    (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_extreme16    (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_quantize16   (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_dequantize16 (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_requantize16 (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_concat16     (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_avg_pool16   (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_max_pool16   (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_reduce16     (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_softmax16    (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_resize16     (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_table16      (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_svdf         (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_lstm         (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_move         (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_one_hot      (LptProgram *program, LptProgramOp *op);
/* By computed indices. */
gboolean lpt_prepare_gather          (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_gather_nd       (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_gather_elements (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_scatter_rows    (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_scatter_elements (LptProgram *program, LptProgramOp *op);
/* A Gather of a Concat along the same axis. */
gboolean lpt_prepare_gather_parts (LptProgram *program, LptProgramOp *op);
/* Every element of @value, computed indices, is in [0, @n) whatever the inputs are. */
gboolean lpt_indices_are_below    (const LptProgramValue *value, gint64 n);
/* Index @i of those of @dtype at @indices, of 32 or 64 bits. */
static inline gint64
lpt_index_at (LptDType      dtype,
              gconstpointer indices,
              gsize         i)
{
  return dtype == LPT_DTYPE_I32 ? ((const gint32 *) indices)[i] : ((const gint64 *) indices)[i];
}
/* Updates at constant places. */
gboolean lpt_prepare_scatter      (LptProgram *program, LptProgramOp *op);
/* Reductions of plain integers. */
gboolean lpt_prepare_reduce_words (LptProgram *program, LptProgramOp *op);
/* Elementwise ops of two values of codes whose rounding no other operator has. */
gboolean lpt_prepare_pairs        (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_code_rows    (LptProgram *program, LptProgramOp *op);
/* Elementwise ops on plain integers. */
gboolean lpt_prepare_words        (LptProgram *program, LptProgramOp *op);

/* Ops that stay real. */
gboolean lpt_prepare_float_conv     (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_float_deconv   (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_float_matmul   (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_float_max_pool (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_float_avg_pool (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_float_mean     (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_float_concat   (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_float_move     (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_nearest        (LptProgram *program, LptProgramOp *op);   /* of reals, in any layout */
gboolean lpt_prepare_float_resize   (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_float_softmax  (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_float_reduce   (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_float_cumulate (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_float_arg      (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_top_k          (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_pool_places    (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_roi_align      (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_roi_align_rotated (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_roi_pyramid    (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_linear_attention (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_dft              (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_idft             (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_rdft             (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_irdft            (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_stft             (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_convert_types  (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_grid_sample    (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_float_norm     (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_float_mvn      (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_float_lrn      (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_recurrent      (LptProgram *program, LptProgramOp *op);

/* Codes of an interval that is found at run time. */
gboolean lpt_prepare_dynamic_quantize (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_dynamic_fake_quantize (LptProgram *program, LptProgramOp *op);
/* Part of what DynamicQuantize is prepared by. */
gboolean lpt_prepare_dynamic_litert (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_block_matmul     (LptProgram *program, LptProgramOp *op);
gboolean lpt_prepare_dynamic_rest     (LptProgram *program, LptProgramOp *op);

/* --- helpers --- */

/* set[axis] for the constant @axes of a value of @rank; FALSE: they are none, or not constant. */
gboolean lpt_program_axis_set (const LptProgramValue *axes, gint rank, gboolean *set);

/* Elements of @x before the axes @set, in them and behind them. FALSE: axes that are kept stand between those. */
gboolean lpt_reduce_lengths (const LptShape *x, const gboolean *set, gsize length[3]);

/* Where the axes of an MVN on a value of @rank begin; -1: they are not the last ones, or not constant. */
gint lpt_mvn_axis (const LptProgramOp *op, gint rank);

/* CODES_LAST or CODES: how codes that do not care for the order had better be read. */
LptValueLayout lpt_codes_layout (const LptProgramValue *value);

/* lpt_requant_single () and lpt_requant_double () but for saturation, which limits of fewer than 32 bits hide. FALSE: a
 * shift or multiplier of no use. */
gboolean lpt_rescale_make (const LptMultiplier *m, LptRescale *r);

/* @form with a copy of @params: that of @op, or where it has one that of one more op of its node, behind it. */
void lpt_add_form (LptProgram *program, LptProgramOp *op, const LptOpForm *form, gconstpointer params, gsize size);
/* The bias of @op, one integer or one per channel, or NULL; FALSE in @ok: it is something else. */
const LptArray *lpt_bias_of (const LptProgramOp *op, guint input, gsize channels, gboolean *ok);
/* Its integer of channel @c. */
gint64    lpt_bias_at (const LptArray *bias, gsize c);

/* No sum of @k products of 8-bit codes less their zero points is larger in magnitude. */
static inline double
lpt_accumulator_bound (gsize k)
{
  return 255.0 * 255.0 * (double) k;
}

/* The function that rounds real numbers to those of @dtype; FALSE: there is none, or nothing to round. */
gboolean  lpt_rounding_map (LptDType dtype, LptFloatMap *map);

/* Parameters of the sum of @op with operand @first as a: modes whose rule the kernels have; FALSE otherwise. */
gboolean  lpt_sum_of (const LptProgramOp *op, guint first, LptAdd *add);
/* Elements of input 0 alone (and one constant), of @codes or as typed, whose places are known when the plan is made. */
gboolean  lpt_is_movement (const LptProgramOp *op, gboolean codes);
/* Interpolate that only repeats codes. */
gboolean  lpt_is_repeating (const LptProgramOp *op);

/* --- bytes that tasks touch (access.c) --- */

/* Elements [@from, @to). */
LptOpSpan lpt_span         (gsize from, gsize to, gsize element);
/* Bytes [@n0, @n1) of each of the rows [@m0, @m1), which lie @pitch bytes from each other. */
LptOpSpan lpt_span_columns (gsize m0, gsize m1, gsize n0, gsize n1, gsize pitch);
/* Pixels [@from, @to) of all planes of an image, those of all images behind each other. */
LptOpSpan lpt_span_planes  (gsize pixels, gsize planes, gsize from, gsize to, gsize element);
/* Lines [@from, @to) of the input that the output's lines @first to @last read; lines of all images behind each
 * other. */
void      lpt_span_lines   (const LptConvShape *s, gsize first, gsize last, gsize *from, gsize *to);

/* --- what follows sums of codes (epilogue.c) --- */

/* A part of a product: its epilogue, and what its packing folds into the bias where the zero point is known before. */
typedef struct
{
  const LptEpilogue *e;
  const gint32 *col_sum;     /* NULL: the form itself folds the computed zero point */
  gsize         taps;
} LptEpiloguePart;

/* How the sums of a product are stored, and the readers of its result as far as the same pass over it does their
 * work. */
typedef struct
{
  LptEpilogue e;
  LptAdd      add;
  guint8      table[256], add_table[256];
  gint32     *bias, *weight_zp, *mult, *shift, *rest;
  float      *scale, *fbias;
  LptRequantFma fma;
  LptProgramValue *out;      /* the result */
  LptProgramValue *residual; /* or NULL */
  LptProgramOp *last;        /* last op fused */
  /* What somebody computes (computed-epilogue.c), or NULL: the zero point of the input, the scale of the sums, one or
   * one for each channel. They are inputs of the form behind the codes. */
  LptProgramValue *zero, *run_scale;
  gint        axis;          /* of the channels in the output */
  gsize       channels;
  double      bound;         /* of the sums, for lpt_fused_epilogue_bind() */
  LptEpiloguePart whole;     /* of a product of one part */
  gint32      offset;        /* from the zero point to that of the u8 form */
  gboolean    images;        /* the op takes scales and zero points for each image */
  gboolean    finishes;      /* the form calls lpt_fused_epilogue_finish(): a function may follow floats */
  const LptFloatKernel *maps;        /* or NULL */
  LptFloatMap map;
} LptFusedEpilogue;

/* Of the product @op alone, still without lpt_fused_epilogue_bind(), which is dear: the form's bind() calls it once for
 * all. @axis: of the channels in the output; @scales: of the weights, one or one for each channel. FALSE: the result
 * cannot be written in one pass. */
gboolean lpt_fused_epilogue_init  (LptFusedEpilogue *epilogue, LptProgramOp *op, gint axis, gsize channels,
                                   const double *scales, guint n_scales);
/* Takes in the ops behind @op as far as they fit; FALSE: none. */
gboolean lpt_fused_epilogue_follow (LptFusedEpilogue *epilogue, LptProgram *program, LptProgramOp *op);
/* What the stores of kernels leave of it: of columns [@c0, @c1) of @rows rows of floats @ld bytes apart, the first at
 * @out. */
void     lpt_fused_epilogue_finish (const LptFusedEpilogue *epilogue, guint8 *out, gsize ld, gsize rows, gsize c0, gsize c1);
/* Of a Dequantize of int32 by itself. */
gboolean lpt_fused_epilogue_words (LptFusedEpilogue *epilogue, LptProgramOp *op, gint axis, gsize channels);
/* lpt_epilogue_prepare() of @e, that of @epilogue or of one of its parts, in single rounding where that gives the same
 * codes. */
void     lpt_fused_epilogue_bind  (LptFusedEpilogue *epilogue, LptEpilogue *e, gsize channels, double bound);
void     lpt_fused_epilogue_clear (LptFusedEpilogue *epilogue);
/* Appends what is computed to the inputs of a form whose first ones are set, three at most, and its room to the
 * workspace. */
void     lpt_fused_epilogue_computed (LptFusedEpilogue *epilogue, LptOpForm *form);
/* A run of channels [c0, c1) of an image of the data. */
typedef struct
{
  const LptProgramOp *op;
  const LptOpData    *data;
  gsize c0, c1, image;
} LptEpilogueRun;

/* The epilogue of @part, or *made from it where something is computed. */
const LptEpilogue *lpt_fused_epilogue_of_run (const LptFusedEpilogue *epilogue, const LptEpiloguePart *part,
                                              const LptEpilogueRun *run, LptEpilogue *made);
/* The zero point of the input in u8 form of a run, @fallback where it is constant. */
guint8   lpt_fused_epilogue_zero (const LptFusedEpilogue *epilogue, const LptEpilogueRun *run, guint8 fallback);
/* Is something computed for each image? */
gboolean lpt_fused_epilogue_by_image (const LptFusedEpilogue *epilogue);
/* What tables behind @value do to it, one after the other, as long as each alone reads what it maps: as one @table.
 * They are fused into @owner, *last becomes the last of them. Returns the value behind them, which @owner makes
 * instead. */
LptProgramValue *lpt_fused_tables (LptProgram *program, LptProgramOp *owner, LptProgramValue *value, guint8 *table, LptProgramOp **last);
