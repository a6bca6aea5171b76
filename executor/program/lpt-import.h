/* lpt-import.h - from a graph to a program of reference ops
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/operators/lpt-program.h"

/**
 * lpt_program_import:
 * @shapes: (nullable): of each input in the order of graph->parameters
 * One sweep in topological order: infers the node's shapes, and where all its inputs are constants evaluates it at once. Small
 * integer results become Constants of the program's graph, so that inference sees the shapes that they compute. What is left
 * is an op each.
 * Returns: FALSE + error: shapes that do not fit or stay dynamic, ops that cannot run
 */
gboolean lpt_program_import (LptProgram *program, const LptShape *shapes, GError **error);
