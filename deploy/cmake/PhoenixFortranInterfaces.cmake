# Sets `interfaces`: a block for the module mpi with routines that have no choice of types, by the names that
# MPI 3.1 gives their arguments. As in MPICH there is none for those with a list (of requests, of dimensions)
# for which programs often give a single variable. What follows a name: () a list, :a an address, :c a count, :l a logical
# value, :t a text, :s a status, :f a procedure, :r triples; nothing, an integer. Each has ierror besides.
set(routines
  "abort comm errorcode" "add_error_class errorclass" "add_error_code errorclass errorcode"
  "add_error_string errorcode string:t" "attr_delete comm keyval" "attr_get comm keyval attribute_val flag:l"
  "attr_put comm keyval attribute_val" "barrier comm" "cancel request"
  "cart_shift comm direction disp rank_source rank_dest" "cartdim_get comm ndims"
  "comm_call_errhandler comm errorcode" "comm_compare comm1 comm2 result" "comm_create comm group newcomm"
  "comm_create_group comm group tag newcomm" "comm_create_errhandler comm_errhandler_fn:f errhandler"
  "comm_create_keyval comm_copy_attr_fn:f comm_delete_attr_fn:f comm_keyval extra_state:a"
  "comm_delete_attr comm comm_keyval" "comm_disconnect comm" "comm_dup comm newcomm"
  "comm_dup_with_info comm info newcomm" "comm_free comm" "comm_free_keyval comm_keyval"
  "comm_get_attr comm comm_keyval attribute_val:a flag:l" "comm_get_errhandler comm errhandler"
  "comm_get_info comm info_used" "comm_get_name comm comm_name:t resultlen" "comm_get_parent parent"
  "comm_group comm group" "comm_idup comm newcomm request" "comm_rank comm rank"
  "comm_remote_group comm group" "comm_remote_size comm size" "comm_set_attr comm comm_keyval attribute_val:a"
  "comm_set_errhandler comm errhandler" "comm_set_info comm info" "comm_set_name comm comm_name:t"
  "comm_size comm size" "comm_split comm color key newcomm" "comm_split_type comm split_type key info newcomm"
  "comm_test_inter comm flag:l" "dist_graph_neighbors_count comm indegree outdegree weighted:l"
  "errhandler_free errhandler" "error_class errorcode errorclass" "error_string errorcode string:t resultlen"
  "finalize" "finalized flag:l" "get_count status:s datatype count" "get_elements status:s datatype count"
  "get_elements_x status:s datatype count:c" "get_library_version version:t resultlen"
  "get_processor_name name:t resultlen" "get_version version subversion"
  "graph_get comm maxindex maxedges index() edges()" "graph_map comm nnodes index() edges() newrank"
  "graph_neighbors_count comm rank nneighbors" "graphdims_get comm nnodes nedges" "grequest_complete request"
  "grequest_start query_fn:f free_fn:f cancel_fn:f extra_state:a request" "group_compare group1 group2 result"
  "group_difference group1 group2 newgroup" "group_excl group n ranks() newgroup" "group_free group"
  "group_incl group n ranks() newgroup" "group_intersection group1 group2 newgroup"
  "group_range_excl group n ranges:r newgroup" "group_range_incl group n ranges:r newgroup"
  "group_rank group rank" "group_size group size" "group_union group1 group2 newgroup" "ibarrier comm request"
  "improbe source tag comm flag:l message status:s" "info_create info" "info_delete info key:t"
  "info_dup info newinfo" "info_free info" "info_get info key:t valuelen value:t flag:l"
  "info_get_nkeys info nkeys" "info_get_nthkey info n key:t" "info_get_valuelen info key:t valuelen flag:l"
  "info_set info key:t value:t" "init" "init_thread required provided" "initialized flag:l"
  "intercomm_create local_comm local_leader peer_comm remote_leader tag newintercomm"
  "intercomm_merge intercomm high:l newintracomm" "iprobe source tag comm flag:l status:s"
  "is_thread_main flag:l" "keyval_create copy_fn:f delete_fn:f keyval extra_state" "keyval_free keyval"
  "mprobe source tag comm message status:s" "op_commutative op commute:l" "op_create user_fn:f commute:l op"
  "op_free op" "pack_external_size datarep:t incount datatype size:a" "pack_size incount datatype comm size"
  "probe source tag comm status:s" "query_thread provided" "request_free request"
  "request_get_status request flag:l status:s" "start request" "status_set_cancelled status:s flag:l"
  "status_set_elements status:s datatype count" "status_set_elements_x status:s datatype count:c"
  "test request flag:l status:s" "test_cancelled status:s flag:l" "topo_test comm status"
  "type_commit datatype" "type_contiguous count oldtype newtype"
  "type_create_darray size rank ndims array_of_gsizes() array_of_distribs() array_of_dargs() array_of_psizes() order oldtype newtype"
  "type_create_f90_complex p r newtype" "type_create_f90_integer r newtype" "type_create_f90_real p r newtype"
  "type_create_hindexed count array_of_blocklengths() array_of_displacements():a oldtype newtype"
  "type_create_hindexed_block count blocklength array_of_displacements():a oldtype newtype"
  "type_create_hvector count blocklength stride:a oldtype newtype"
  "type_create_indexed_block count blocklength array_of_displacements() oldtype newtype"
  "type_create_keyval type_copy_attr_fn:f type_delete_attr_fn:f type_keyval extra_state:a"
  "type_create_resized oldtype lb:a extent:a newtype"
  "type_create_struct count array_of_blocklengths() array_of_displacements():a array_of_types() newtype"
  "type_create_subarray ndims array_of_sizes() array_of_subsizes() array_of_starts() order oldtype newtype"
  "type_delete_attr datatype type_keyval" "type_dup oldtype newtype" "type_free datatype"
  "type_free_keyval type_keyval" "type_get_attr datatype type_keyval attribute_val:a flag:l"
  "type_get_contents datatype max_integers max_addresses max_datatypes array_of_integers() array_of_addresses():a array_of_datatypes()"
  "type_get_envelope datatype num_integers num_addresses num_datatypes combiner"
  "type_get_extent datatype lb:a extent:a" "type_get_extent_x datatype lb:c extent:c"
  "type_get_name datatype type_name:t resultlen" "type_get_true_extent datatype true_lb:a true_extent:a"
  "type_get_true_extent_x datatype true_lb:c true_extent:c"
  "type_indexed count array_of_blocklengths() array_of_displacements() oldtype newtype"
  "type_match_size typeclass size datatype" "type_set_attr datatype type_keyval attribute_val:a"
  "type_set_name datatype type_name:t" "type_size datatype size" "type_size_x datatype size:c"
  "type_vector count blocklength stride oldtype newtype" "wait request status:s")

# How many arguments the library's functions have, where all of them are passed on.
foreach(file collectives communicators datatypes messages objects)
  set(path ${PROJECT_SOURCE_DIR}/runtime/mpi/fortran/${file}.cc)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  file(STRINGS ${path} lines REGEX "^PHX_FORTRAN\\(")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "\\(([0-9]+), ([a-z0-9_]+)," _ "${line}")
    set(arguments_of_${CMAKE_MATCH_2} ${CMAKE_MATCH_1})
  endforeach()
endforeach()

set(kind_of_a "integer(kind=MPI_ADDRESS_KIND)")
set(kind_of_c "integer(kind=MPI_COUNT_KIND)")
set(kind_of_l logical)
set(kind_of_t "character(len=*)")
set(kind_of_s integer)
set(kind_of_f external)
set(kind_of_r integer)
set(kind_of_i integer)
set(interfaces "  interface\n")
foreach(routine IN LISTS routines)
  string(REPLACE " " ";" arguments "${routine} ierror")
  list(POP_FRONT arguments name)
  list(LENGTH arguments count)
  if(DEFINED arguments_of_${name} AND NOT arguments_of_${name} EQUAL count)
    message(FATAL_ERROR "mpi_${name} has ${arguments_of_${name}} arguments in the library, and ${count} in the module")
  endif()
  set(names "")
  set(declared "")
  foreach(argument IN LISTS arguments)
    string(REGEX MATCH "^([a-z0-9_]+)([(][)])?:?([a-z]?)$" _ "${argument}")
    set(argument ${CMAKE_MATCH_1})
    set(list "${CMAKE_MATCH_2}")
    set(kind i${CMAKE_MATCH_3})
    string(REGEX REPLACE "^i(.)$" "\\1" kind ${kind})
    set(shape "")
    if(kind STREQUAL "s")
      set(shape "(MPI_STATUS_SIZE)")
    elseif(kind STREQUAL "r")
      set(shape "(3, *)")
    elseif(list)
      set(shape "(*)")
    endif()
    list(APPEND names ${argument})
    string(APPEND declared "      ${kind_of_${kind}} :: ${argument}${shape}\n")
  endforeach()
  list(JOIN names ", &\n        " names)
  string(APPEND interfaces "    subroutine mpi_${name}( &\n        ${names})\n"
         "      import :: MPI_ADDRESS_KIND, MPI_COUNT_KIND, MPI_STATUS_SIZE\n${declared}    end subroutine\n")
endforeach()
string(APPEND interfaces "  end interface\n")
