/* lpt-config.h - what a target wants: restrictions, options, lists of passes, callbacks
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_CONFIG_H
#define LPT_CONFIG_H

#include <lpt/lpt-graph.h>
#include <lpt/lpt-restrictions.h>

G_BEGIN_DECLS

typedef struct _LptPass LptPass;

/* Where a pass stands in the pipeline; the names are those of `--until`. */
typedef enum
{
  LPT_STAGE_RAISE,         /* of lowered graphs; others are left alone */
  LPT_STAGE_PREPARE,
  LPT_STAGE_MARKUP,
  LPT_STAGE_DECOMPOSE,     /* one sweep with LPT_STAGE_PROPAGATE */
  LPT_STAGE_PROPAGATE,
  LPT_STAGE_CLEANUP,
  LPT_STAGE_LOWER,
  LPT_N_STAGES
} LptStage;

/* Static. */
LPT_EXPORT const char *lpt_stage_name      (LptStage stage);   /* static; "raise", "prepare", ... */
/* FALSE: no stage has this name. */
LPT_EXPORT gboolean    lpt_stage_from_name (const char *name, LptStage *stage);

/* Ports that must agree on one of @types (empty: the ports are free). Plain data. */
typedef struct
{
  guint8      n_ports;
  guint8      ports[8];
  LptTypeList types;
} LptPortTypes;

/* Of one op, or of the nodes that a name or glob says; node > op, an exact name > a glob, later > earlier.
 * Belongs to its configuration, whose threads are its own. */
typedef struct
{
  char    *text;              /* as it was given, for messages */
  char    *node;              /* name or glob with * and ?; NULL = of @op */
  LptOp    op;
  guint    since, until;      /* versions of the op (lpt_op_version); 0 = no limit */
  gint     rank;              /* only for data of this rank; -1 = any */
  gboolean never;             /* the op never runs on integers */
  GArray  *ports;             /* of LptPortTypes */
} LptRestriction;

/* Which inputs of an op want one scale for all channels. Belongs to its configuration, whose threads are its own. */
typedef struct
{
  char    *text, *node;
  LptOp    op;
  guint    since, until;
  LptGranularity granularity;
  guint    ports;             /* bit set; 0 = all */
} LptGranularityRestriction;

/* TRUE = the pass leaves @node alone. */
typedef gboolean (*LptPassCallback) (LptNode *node, gpointer data);

/* What a target wants. Filled by one thread; any thread may run pipelines with it while nobody changes it. */
typedef struct
{
  char       *name;                 /* of the target, or NULL */
  GPtrArray  *restrictions;         /* LptRestriction *, one per (op, version, rank) or node, in the order given */
  GPtrArray  *granularity;          /* LptGranularityRestriction * */
  GPtrArray  *prepare;              /* groups of pass names (GStrv): each group is one sweep */
  GPtrArray  *cleanup;
  GHashTable *disabled;             /* set of pass names */
  GHashTable *callbacks;            /* pass name -> GPtrArray of callback records */
  GPtrArray  *extra;                /* const LptPass *: the user's own, tried after ours in their stage */
  LptStage    until;                /* last stage that runs */
  gboolean    update_precisions;
  gboolean    scaling_mode;
  gboolean    reshape_ignores_per_tensor;
  LptDType    deq_precision;
  LptTypeList default_precisions;
  gboolean    integer_zero_points;  /* FALSE: a fractional zero point in front of a convolution stays what it is (lowering adds
                                       what rounding it would lose to the bias) */
  gboolean    strict;               /* restrictions hold before lowering, too (lowering always keeps them); FALSE: as in OpenVINO, where weights that
                                       come as integers and ops that preserve precision are not asked, and a FakeQuantize whose readers want
                                       different types stays real for all of them */
  gboolean    made_only;            /* SubtractMultiplyToMultiplyAdd: only on dequantization that this run made */
  gboolean    dynamic;              /* real products with constant weights read data that is quantized at run time, by rows */
  gboolean    normalization_keeps_eps;  /* a scale leaves MVN and NormalizeL2 without changing eps, as in OpenVINO */
  LptQuantRules quant_rules;        /* what lowered graphs must keep (lpt-restrictions.h) */
  char       *requant;              /* requant mode of lowered graphs that name none, or NULL */
  gboolean    validate;             /* after every pass that changed something */
} LptConfig;

/* A new configuration of target `native` (transfer full). */
LPT_EXPORT LptConfig *lpt_config_new      (void);
LPT_EXPORT void       lpt_config_free     (LptConfig *config);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptConfig, lpt_config_free)

/* A configuration from a built-in target ("native", "none", "openvino-cpu", ...) or a target file (JSON). */
LPT_EXPORT LptConfig  *lpt_config_new_target (const char *name, GError **error);
LPT_EXPORT LptConfig  *lpt_config_new_file   (const char *filename, GError **error);
/**
 * lpt_config_new_text:
 * @text, @length: what a target file holds (JSON); -1 = up to its end
 * @name: (nullable): of the target, for messages and reports; NULL = "target"
 * Returns: (transfer full): NULL + error that names @name and the line or the member
 */
LPT_EXPORT LptConfig  *lpt_config_new_text   (const char *text, gssize length, const char *name, GError **error);
LPT_EXPORT const char *const *lpt_config_targets (void);      /* names of the built-in ones */

/**
 * lpt_config_restrict:
 * @text: "conv:u8,i8" port 0 u8, port 1 i8; "conv:u8|i8,i8" alternatives in order; "conv:,i8" port 0 free;
 *   "conv" alone = never low; "lstm_sequence:0+1=u8" ports that share one choice; "group_conv[rank=5]:u8|i8,i8";
 *   "interpolate@4:u8" one version. Op: name of the op table or short name, any case.
 *   "node=stage4/conv:u8,i8", "node=head_?:i8": the node of that name, or nodes that fit that glob, in place of an op.
 * Replaces what the configuration said of that op (version, rank) or name. It is a promise about the lowered graph: no
 * op has an input of an integer type that its restriction does not allow; what cannot be met stays real
 * (lpt_config_check() says whether).
 */
LPT_EXPORT gboolean lpt_config_restrict    (LptConfig *config, const char *text, GError **error);
/* "conv:0", "deconv", "conv:0,1", "node=head/conv:0". */
LPT_EXPORT gboolean lpt_config_per_tensor  (LptConfig *config, const char *text, GError **error);
/* The node of this name, or nodes that fit this glob, never run on integers: "node=NAME" of lpt_config_restrict(). */
LPT_EXPORT gboolean lpt_config_keep        (LptConfig *config, const char *name, GError **error);
/* Names are matched without case and punctuation; error when no pass has it. */
LPT_EXPORT gboolean lpt_config_disable     (LptConfig *config, const char *pass, GError **error);
/* A callback for one pass; several are tried in turn, TRUE of any skips the node. */
LPT_EXPORT gboolean lpt_config_add_callback (LptConfig *config, const char *pass, LptPassCallback callback,
                                             gpointer data, GError **error);
/* A named predicate of lpt-predicates.h as a callback: "asymmetric", "bias-add", ... */
LPT_EXPORT gboolean lpt_config_add_predicate (LptConfig *config, const char *pass, const char *predicate, GError **error);
/* The user's own pass; @pass must outlive the configuration. */
LPT_EXPORT void     lpt_config_add_pass    (LptConfig *config, const LptPass *pass);

/* The restriction for @node (most specific first), or NULL. */
LPT_EXPORT const LptRestriction *lpt_config_restriction (const LptConfig *config, LptNode *node);
LPT_EXPORT const LptGranularityRestriction *lpt_config_granularity (const LptConfig *config, LptNode *node);
/* Names and globs of the configuration that no node of @graph and its bodies has (transfer full) (element-type
 * utf8). */
LPT_EXPORT GPtrArray *lpt_config_unused_names (const LptConfig *config, LptGraph *graph);
/* All places of @graph and its bodies where an integer of at most 16 bits breaks a restriction (transfer full)
 * (element-type LptViolation): empty when there are none. Targets with demands on quantization: lpt_graph_check(),
 * too. */
LPT_EXPORT GPtrArray *lpt_config_check     (const LptConfig *config, LptGraph *graph);
/* Does any callback veto @pass on @node? */
LPT_EXPORT gboolean lpt_config_vetoes      (const LptConfig *config, const char *pass, LptNode *node);

G_END_DECLS

#endif
