/* access.c - bytes that tasks touch, in the shapes that operands have
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-operators.h"

LptOpSpan
lpt_span (gsize from,
          gsize to,
          gsize element)
{
  return (LptOpSpan) { .from = from * element, .to = to * element };
}

LptOpSpan
lpt_span_columns (gsize m0,
                  gsize m1,
                  gsize n0,
                  gsize n1,
                  gsize pitch)
{
  return (LptOpSpan) { m0 * pitch + n0, m1 > m0 ? (m1 - 1) * pitch + n1 : m0 * pitch + n0, pitch, n0, n1 - n0 };
}

/* What output position @at of an axis reads of the @in of the input: [*from, *to). */
static void
read_range (gsize     at,
            ptrdiff_t pad,
            gsize     reach,
            gsize     in,
            gsize    *from,
            gsize    *to)
{
  *from = (gsize) CLAMP ((ptrdiff_t) at - pad, 0, (ptrdiff_t) in);
  *to = (gsize) CLAMP ((ptrdiff_t) (at + reach) - pad, (ptrdiff_t) *from, (ptrdiff_t) in);
}

void
lpt_span_lines (const LptConvShape *s,
                gsize               first,
                gsize               last,
                gsize              *from,
                gsize              *to)
{
  const gsize plane0 = first / s->oh, plane1 = last / s->oh, lines = (s->kh - 1) * s->dilation_h + 1,
              planes = (s->kd - 1) * s->dilation_d + 1;
  gsize y0, y1, z0, z1, rest;

  read_range (first % s->oh * s->stride_h, s->pad_top, lines, s->ih, &y0, &rest);
  read_range (last % s->oh * s->stride_h, s->pad_top, lines, s->ih, &rest, &y1);
  read_range (plane0 % s->od * s->stride_d, s->pad_front, planes, s->id, &z0, &rest);
  read_range (plane1 % s->od * s->stride_d, s->pad_front, planes, s->id, &rest, &z1);
  /* A plane may be read again from its first line on. */
  if (s->id * s->od > 1 && plane0 != plane1)
    {
      y0 = 0;
      y1 = s->ih;
    }
  *from = (plane0 / s->od * s->id + z0) * s->ih + y0;
  *to = (plane1 / s->od * s->id + MAX (z1, 1) - 1) * s->ih + y1;
  *to = MAX (*to, *from);
}

LptOpSpan
lpt_span_planes (gsize pixels,
                 gsize planes,
                 gsize from,
                 gsize to,
                 gsize element)
{
  gsize image = from / pixels, size = planes * pixels * element, last = to > from ? (to - 1) / pixels : image;

  if (last > image)
    return (LptOpSpan) { .from = image * size, .to = (last + 1) * size };

  return (LptOpSpan) { image * size, (image + 1) * size, pixels * element, from % pixels * element,
                       (to - from) * element };
}
