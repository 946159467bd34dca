/* Engines that a caller asks for. */
#ifndef ASSAY_INTERP_API_PROGRAM_H
#define ASSAY_INTERP_API_PROGRAM_H

#include "interp/assay_tools.h"
#include "interp/run/program.h"

/* The options as the engine has them; *own are the caller's, whole. */
assay_status assay_engine_take(const assay_engine_options *options, assay_engine_options *own,
                               assay_program_options *out, assay_error *err);

#endif
