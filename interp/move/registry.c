/* Which kernel moves the data of which op. */
#include "interp/move/move.h"

static const assay_kernel kernels[ASSAY_OP_COUNT] = {
    [ASSAY_OP_RESHAPE] = {assay_move_reshape},
    [ASSAY_OP_READ] = {assay_move_reshape},
    [ASSAY_OP_RELABEL] = {assay_move_reshape},
    [ASSAY_OP_ASSIGN] = {assay_move_assign},
    [ASSAY_OP_EXPAND] = {assay_move_expand},
    [ASSAY_OP_TRANSPOSE] = {assay_move_transpose},
    [ASSAY_OP_CONCAT] = {assay_move_concat},
    [ASSAY_OP_SPLIT] = {assay_move_split},
    [ASSAY_OP_SLICE] = {assay_move_slice},
    [ASSAY_OP_PAD] = {assay_move_pad},
    [ASSAY_OP_TILE] = {assay_move_tile},
    [ASSAY_OP_REVERSE] = {assay_move_reverse},
    [ASSAY_OP_GATHER] = {assay_move_gather},
    [ASSAY_OP_GATHER_ND] = {assay_move_gather_nd},
    [ASSAY_OP_DEPTH_TO_SPACE] = {assay_move_depth_to_space},
    [ASSAY_OP_SPACE_TO_DEPTH] = {assay_move_space_to_depth},
    [ASSAY_OP_SELECT] = {assay_move_select},
    [ASSAY_OP_ARG_MAX] = {assay_move_arg},
    [ASSAY_OP_ARG_MIN] = {assay_move_arg},
    [ASSAY_OP_UPDATE_SLICE] = {assay_move_update_slice},
    [ASSAY_OP_WHERE] = {assay_move_where},
    [ASSAY_OP_TOPK] = {assay_move_topk, assay_move_topk_scratch},
};

assay_kernel assay_move_kernel(assay_op op)
{
    return kernels[op];
}
