/* repairs.c - the table of repairs
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/quantizer.h"

static const LptRepair repairs[] = {
#define LPT_REPAIR(name, stage, run, doc) { name, doc, LPT_REPAIR_##stage, run },
#include "quantize/repairs.def"
#undef LPT_REPAIR
};

const LptRepair *
lpt_repair_row (guint i)
{
  return &repairs[i];
}

guint
lpt_repair_count (void)
{
  return G_N_ELEMENTS (repairs);
}

const char *
lpt_repair_name (guint i)
{
  return i < G_N_ELEMENTS (repairs) ? repairs[i].name : NULL;
}

const char *
lpt_repair_doc (guint i)
{
  return i < G_N_ELEMENTS (repairs) ? repairs[i].doc : NULL;
}

gint
lpt_repair_find (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (repairs); i++)
    if (g_str_equal (repairs[i].name, name))
      return (gint) i;
  return -1;
}
