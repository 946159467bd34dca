/* Engines as a caller requests them. */
#ifndef ASSAY_INTERP_API_PROGRAM_H
#define ASSAY_INTERP_API_PROGRAM_H

#include "interp/assay_tools.h"
#include "interp/run/program.h"

/* The options in the engine's form; *own receives the caller's, completed. */
assay_status assay_engine_take(const assay_engine_options *options, assay_engine_options *own,
                               assay_program_options *out, assay_error *err);

#endif
