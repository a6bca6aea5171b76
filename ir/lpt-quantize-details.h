/* lpt-quantize-details.h - what a FakeQuantize quantizes to
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_QUANTIZE_DETAILS_H
#define LPT_QUANTIZE_DETAILS_H

#include <lpt/lpt-graph.h>

G_BEGIN_DECLS

/* The intervals of a FakeQuantize; the low and high of one side are broadcast to one shape. */
typedef struct
{
  guint64  levels;
  LptShape in_shape, out_shape;
  guint    n_in, n_out;
  float   *in_low, *in_high;      /* n_in values each */
  float   *out_low, *out_high;    /* n_out values each */
} LptQuantizeDetails;

/* The type that quantized data gets, and the integers that the interval's ends become. */
typedef struct
{
  LptDType dtype;                 /* UNDEFINED = none */
  double   min, max;
  gboolean has_zp;
} LptDataPrecision;

/* The preferred type of an output interval. */
typedef struct
{
  LptDType dtype;                 /* UNDEFINED: asymmetric, or channels that disagree */
  gboolean has_negative, has_zp;
} LptPrecisionDetails;

/* 15, 16, 255, 256, 2^16 - 1, 2^16, 2^32 - 1, 2^32. */
gboolean lpt_levels_are_supported (guint64 levels);
/* May data of @dtype have so many levels? */
gboolean lpt_levels_fit           (LptDType dtype, guint64 levels);
/* {u8,i8}, {u16,i16} or {u32,i32}. */
LptTypeList lpt_levels_types      (guint64 levels);
/* The integers at the ends of the range. */
double   lpt_levels_min           (LptDType dtype, guint64 levels);
double   lpt_levels_max           (LptDType dtype, guint64 levels);

/* Each interval a Const, or a Convert of one. */
gboolean lpt_quantize_intervals_are_constant (LptNode *fq);
/* The same, and levels supported. */
gboolean lpt_quantize_is_supported (LptNode *fq);
/* FALSE when the intervals are not constant, do not fit together, or make the data larger. */
gboolean lpt_quantize_details_read  (LptNode *fq, LptQuantizeDetails *details);
void     lpt_quantize_details_clear (LptQuantizeDetails *details);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LptQuantizeDetails, lpt_quantize_details_clear)

/* What the zero point of an interval that counts as symmetric may be off by, in steps of 256 levels: 64 times the
 * relative bound of lpt_quantize_precision(). Beyond it dropping a fraction shows in sums of products, where it adds up
 * as the rounding of codes does not. */
#define LPT_ZERO_POINT_COARSE 0.128

LptPrecisionDetails lpt_quantize_precision (const LptQuantizeDetails *details);
/* The type for consumers that take @required (ordered; empty = any). */
LptDataPrecision    lpt_quantize_data_precision (const LptQuantizeDetails *details, const LptTypeList *required);
/* checkZeroPoint for a FakeQuantize: each shift within half a step of the type's range. */
gboolean            lpt_quantize_zero_point_fits (const LptQuantizeDetails *details, const LptDataPrecision *precision);

/* The code of 0 in an interval, counted from the lowest one: - low / step. Returns: it is an integer but for what
 * float32 leaves of the ends, 2^-22 of the larger one; @zero is that integer then. An end further off is another
 * number, which a zero point would lose. */
gboolean lpt_quantize_whole_zero (double low, double high, guint64 levels, double *zero);

/* The interval of float32 for codes from @min to @max that is near [(min - zero) scale, (max - zero) scale] and from
 * which @scale comes back as it is, and @zero as nearly as can be: ends that are rounded each for itself give another
 * step, by its last place. The rounded ends where none within four units of their last places does. */
void lpt_quantize_ends (double scale, double zero, double min, double max, double *low, double *high);

/* Where one interval lands when a region shares one scale. */
typedef struct
{
  float  low, high;      /* rounded */
  float  shift, scale;   /* value = (q - shift) * scale */
  guint64 levels;
} LptAlignedInterval;

LptAlignedInterval lpt_quantize_align (float min, float max, float combined_low, float combined_high, float low, float high);

G_END_DECLS

#endif
