/* tflite.h - reads the models of the LiteRT data set
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef TFLITE_H
#define TFLITE_H

#include "case.h"

/**
 * tflite_build:
 * @inputs: (element-type LptTensor): one per model input
 * The first subgraph as a graph; every tensor that an operator writes becomes a result named "t000" (its index).
 */
CaseGraph *tflite_build (const char *path, GPtrArray *inputs, GError **error);

#endif
