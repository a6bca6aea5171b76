/* lpt-composite.h - ops that are made of others, spelled out
 *
 * The rules: lpt-composites.def; lpt-attention.c, lpt-einsum.c, lpt-adaptive-pool.c, lpt-binary-conv.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-graph.h>

/* Takes a node whose inputs and attributes are set; returns it with types and shapes. */
typedef LptNode *(*LptFinishNode) (gpointer data, LptNode *node);

/**
 * LptSpellPurpose:
 * @LPT_SPELL_FOR_RULES: of quantization, which come next
 * @LPT_SPELL_FOR_FILE: of a format that does not have the op
 * @LPT_SPELL_FOR_RUN: what is large may be cut in parts
 */
typedef enum
{
  LPT_SPELL_FOR_RULES,
  LPT_SPELL_FOR_FILE,
  LPT_SPELL_FOR_RUN,
} LptSpellPurpose;

/**
 * lpt_composite_spell:
 * @finish: called for each new node, in order
 * What takes the place of @node, in the graph beside it; equal in real arithmetic, roundings are in other places.
 * Returns: (nullable): the last node, its name derived from that of @node; NULL: no composite, or one that its rule
 *   leaves alone; what was added until then is read by nobody
 */
LptNode *lpt_composite_spell (LptGraph *graph, LptNode *node, LptSpellPurpose purpose, LptFinishNode finish,
                              gpointer data);

/* Has @op a rule? */
gboolean lpt_op_is_composite (LptOp op);

/* All composites of @graph and its bodies; @op: those of one kind, or LPT_N_OPS. */
gboolean lpt_graph_spell     (LptGraph *graph, LptOp op, LptSpellPurpose purpose, GError **error);
/* Is there one? */
gboolean lpt_graph_has_op    (LptGraph *graph, LptOp op);

/* --- for the rules ---------------------------------------------------------------------- */

typedef struct
{
  LptGraph       *graph;
  LptNode        *from;       /* whose name and origin the new nodes have */
  LptSpellPurpose purpose;
  LptFinishNode   finish;
  gpointer        data;
} LptSpeller;

/* Rules: the value that is the node's output; NULL: left alone. */
#define LPT_COMPOSITE(OP, rule, first) LptValue *lpt_##rule##_spell (LptSpeller *s);
#include "ir/lpt-composites.def"
#undef LPT_COMPOSITE

LptNode  *lpt_speller_start    (LptSpeller *s, LptOp op, const char *name, guint n_in, LptValue **in);
LptValue *lpt_speller_done     (LptSpeller *s, LptNode *node);
LptValue *lpt_speller_emit     (LptSpeller *s, LptOp op, const char *name, guint n_in, LptValue **in);
LptValue *lpt_speller_constant (LptSpeller *s, const char *name, LptTensor *tensor);   /* takes over @tensor */
LptValue *lpt_speller_product  (LptSpeller *s, const char *name, LptValue *a, LptValue *b, gboolean transpose_b);
