#pragma once
#pragma GCC system_header

/* Communicators and topologies. */

PHX_MPI_FUNCTION(int, Comm_rank, (MPI_Comm comm, int* rank))
PHX_MPI_FUNCTION(int, Comm_size, (MPI_Comm comm, int* size))
PHX_MPI_FUNCTION(int, Comm_group, (MPI_Comm comm, MPI_Group* group))
PHX_MPI_FUNCTION(int, Comm_test_inter, (MPI_Comm comm, int* flag))
PHX_MPI_FUNCTION(int, Comm_remote_size, (MPI_Comm comm, int* size))
PHX_MPI_FUNCTION(int, Comm_remote_group, (MPI_Comm comm, MPI_Group* group))
PHX_MPI_FUNCTION(int, Comm_dup, (MPI_Comm comm, MPI_Comm* copy))
PHX_MPI_FUNCTION(int, Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* copy))
PHX_MPI_FUNCTION(int, Comm_idup, (MPI_Comm comm, MPI_Comm* copy, MPI_Request* request))
PHX_MPI_FUNCTION(int, Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* out))
PHX_MPI_FUNCTION(int, Comm_split_type,
                 (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* out))
PHX_MPI_FUNCTION(int, Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* out))
PHX_MPI_FUNCTION(int, Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* out))
PHX_MPI_FUNCTION(int, Comm_compare, (MPI_Comm a, MPI_Comm b, int* result))
PHX_MPI_FUNCTION(int, Comm_free, (MPI_Comm * comm))
PHX_MPI_FUNCTION(int, Comm_disconnect, (MPI_Comm * comm))
PHX_MPI_FUNCTION(int, Comm_set_info, (MPI_Comm comm, MPI_Info info))
PHX_MPI_FUNCTION(int, Comm_get_info, (MPI_Comm comm, MPI_Info* info))
PHX_MPI_FUNCTION(int, Comm_get_parent, (MPI_Comm * parent))
PHX_MPI_FUNCTION(int, Intercomm_create,
                 (MPI_Comm local, int leader, MPI_Comm bridge, int remote_leader, int tag,
                  MPI_Comm* out))
PHX_MPI_FUNCTION(int, Intercomm_merge, (MPI_Comm comm, int is_high, MPI_Comm* out))
PHX_MPI_FUNCTION(int, Cart_create,
                 (MPI_Comm comm, int count, const int dims[], const int wraps[], int reorder,
                  MPI_Comm* out))
PHX_MPI_FUNCTION(int, Cart_sub, (MPI_Comm comm, const int kept[], MPI_Comm* out))
PHX_MPI_FUNCTION(int, Cartdim_get, (MPI_Comm comm, int* count))
PHX_MPI_FUNCTION(int, Cart_get,
                 (MPI_Comm comm, int count, int dims[], int wraps[], int coordinates[]))
PHX_MPI_FUNCTION(int, Cart_rank, (MPI_Comm comm, const int coordinates[], int* rank))
PHX_MPI_FUNCTION(int, Cart_coords, (MPI_Comm comm, int rank, int count, int coordinates[]))
PHX_MPI_FUNCTION(int, Cart_shift,
                 (MPI_Comm comm, int dimension, int steps, int* source, int* target))
PHX_MPI_FUNCTION(int, Cart_map,
                 (MPI_Comm comm, int count, const int dims[], const int wraps[], int* rank))
PHX_MPI_FUNCTION(int, Topo_test, (MPI_Comm comm, int* kind))
PHX_MPI_FUNCTION(int, Graph_create,
                 (MPI_Comm comm, int count, const int ends[], const int edges[], int reorder,
                  MPI_Comm* out))
PHX_MPI_FUNCTION(int, Graphdims_get, (MPI_Comm comm, int* count, int* edges))
PHX_MPI_FUNCTION(int, Graph_get,
                 (MPI_Comm comm, int count, int edge_count, int ends[], int edges[]))
PHX_MPI_FUNCTION(int, Graph_neighbors_count, (MPI_Comm comm, int rank, int* count))
PHX_MPI_FUNCTION(int, Graph_neighbors, (MPI_Comm comm, int rank, int count, int neighbours[]))
PHX_MPI_FUNCTION(int, Graph_map,
                 (MPI_Comm comm, int count, const int ends[], const int edges[], int* rank))
PHX_MPI_FUNCTION(int, Dist_graph_create_adjacent,
                 (MPI_Comm comm, int in_count, const int sources[], const int in_weights[],
                  int out_count, const int targets[], const int out_weights[], MPI_Info info,
                  int reorder, MPI_Comm* out))
PHX_MPI_FUNCTION(int, Dist_graph_create,
                 (MPI_Comm comm, int count, const int sources[], const int degrees[],
                  const int targets[], const int weights[], MPI_Info info, int reorder,
                  MPI_Comm* out))
PHX_MPI_FUNCTION(int, Dist_graph_neighbors_count,
                 (MPI_Comm comm, int* in_count, int* out_count, int* is_weighted))
PHX_MPI_FUNCTION(int, Dist_graph_neighbors,
                 (MPI_Comm comm, int in_max, int sources[], int in_weights[], int out_max,
                  int targets[], int out_weights[]))
