/* Table of the kernels that move data, by op. */
#include "interp/move/move.h"

static const assay_kernel kernels[ASSAY_OP_COUNT] = {
    [ASSAY_OP_RESHAPE] = {move_reshape},
    [ASSAY_OP_READ] = {move_reshape},
    [ASSAY_OP_RELABEL] = {move_reshape},
    [ASSAY_OP_ASSIGN] = {move_assign},
    [ASSAY_OP_PATCHES] = {move_patches},
    [ASSAY_OP_EXPAND] = {move_expand},
    [ASSAY_OP_TRANSPOSE] = {move_transpose},
    [ASSAY_OP_CONCAT] = {move_concat},
    [ASSAY_OP_SPLIT] = {move_split},
    [ASSAY_OP_SLICE] = {move_slice},
    [ASSAY_OP_PAD] = {move_pad},
    [ASSAY_OP_TILE] = {move_tile},
    [ASSAY_OP_REVERSE] = {move_reverse},
    [ASSAY_OP_GATHER] = {move_gather},
    [ASSAY_OP_GATHER_ND] = {move_gather_nd},
    [ASSAY_OP_DEPTH_TO_SPACE] = {move_depth_to_space},
    [ASSAY_OP_SPACE_TO_DEPTH] = {move_space_to_depth},
    [ASSAY_OP_SELECT] = {move_select},
    [ASSAY_OP_ARG_MAX] = {move_arg},
    [ASSAY_OP_ARG_MIN] = {move_arg},
    [ASSAY_OP_UPDATE_SLICE] = {move_update_slice},
    [ASSAY_OP_SCATTER_ND] = {move_scatter_nd},
    [ASSAY_OP_WHERE] = {move_where},
    [ASSAY_OP_TOPK] = {move_topk, move_topk_scratch},
};

assay_kernel move_kernel(assay_op op)
{
    return kernels[op];
}
