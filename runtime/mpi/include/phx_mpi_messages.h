#pragma once
#pragma GCC system_header

/* Beginning and end, messages from rank to rank, requests. */

PHX_MPI_FUNCTION(int, Init, (int* argc, char*** argv))
PHX_MPI_FUNCTION(int, Init_thread, (int* argc, char*** argv, int required, int* provided))
PHX_MPI_FUNCTION(int, Finalize, (void))
PHX_MPI_FUNCTION(int, Initialized, (int* flag))
PHX_MPI_FUNCTION(int, Finalized, (int* flag))
PHX_MPI_FUNCTION(int, Query_thread, (int* provided))
PHX_MPI_FUNCTION(int, Is_thread_main, (int* flag))
PHX_MPI_FUNCTION(int, Abort, (MPI_Comm comm, int code))

/* Sending. */
PHX_MPI_FUNCTION(int, Send, (const void*, int count, MPI_Datatype, int to, int tag, MPI_Comm))
PHX_MPI_FUNCTION(int, Ssend, (const void*, int count, MPI_Datatype, int to, int tag, MPI_Comm))
PHX_MPI_FUNCTION(int, Rsend, (const void*, int count, MPI_Datatype, int to, int tag, MPI_Comm))
PHX_MPI_FUNCTION(int, Bsend, (const void*, int count, MPI_Datatype, int to, int tag, MPI_Comm))
PHX_MPI_FUNCTION(int, Isend,
                 (const void*, int count, MPI_Datatype, int to, int tag, MPI_Comm, MPI_Request*))
PHX_MPI_FUNCTION(int, Issend,
                 (const void*, int count, MPI_Datatype, int to, int tag, MPI_Comm, MPI_Request*))
PHX_MPI_FUNCTION(int, Irsend,
                 (const void*, int count, MPI_Datatype, int to, int tag, MPI_Comm, MPI_Request*))
PHX_MPI_FUNCTION(int, Ibsend,
                 (const void*, int count, MPI_Datatype, int to, int tag, MPI_Comm, MPI_Request*))
PHX_MPI_FUNCTION(int, Send_init,
                 (const void*, int count, MPI_Datatype, int to, int tag, MPI_Comm, MPI_Request*))
PHX_MPI_FUNCTION(int, Ssend_init,
                 (const void*, int count, MPI_Datatype, int to, int tag, MPI_Comm, MPI_Request*))
PHX_MPI_FUNCTION(int, Rsend_init,
                 (const void*, int count, MPI_Datatype, int to, int tag, MPI_Comm, MPI_Request*))
PHX_MPI_FUNCTION(int, Bsend_init,
                 (const void*, int count, MPI_Datatype, int to, int tag, MPI_Comm, MPI_Request*))
PHX_MPI_FUNCTION(int, Buffer_attach, (void* buffer, int size))
PHX_MPI_FUNCTION(int, Buffer_detach, (void* buffer, int* size))

/* Receiving. */
PHX_MPI_FUNCTION(int, Recv,
                 (void*, int count, MPI_Datatype, int from, int tag, MPI_Comm, MPI_Status*))
PHX_MPI_FUNCTION(int, Irecv,
                 (void*, int count, MPI_Datatype, int from, int tag, MPI_Comm, MPI_Request*))
PHX_MPI_FUNCTION(int, Recv_init,
                 (void*, int count, MPI_Datatype, int from, int tag, MPI_Comm, MPI_Request*))
PHX_MPI_FUNCTION(int, Sendrecv,
                 (const void*, int count, MPI_Datatype, int to, int tag, void*, int in_count,
                  MPI_Datatype, int from, int in_tag, MPI_Comm, MPI_Status*))
PHX_MPI_FUNCTION(int, Sendrecv_replace,
                 (void*, int count, MPI_Datatype, int to, int tag, int from, int in_tag, MPI_Comm,
                  MPI_Status*))
PHX_MPI_FUNCTION(int, Probe, (int from, int tag, MPI_Comm comm, MPI_Status* status))
PHX_MPI_FUNCTION(int, Iprobe, (int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status))
PHX_MPI_FUNCTION(int, Mprobe, (int from, int tag, MPI_Comm, MPI_Message*, MPI_Status*))
PHX_MPI_FUNCTION(int, Improbe, (int from, int tag, MPI_Comm, int* flag, MPI_Message*, MPI_Status*))
PHX_MPI_FUNCTION(int, Mrecv, (void*, int count, MPI_Datatype, MPI_Message*, MPI_Status*))
PHX_MPI_FUNCTION(int, Imrecv, (void*, int count, MPI_Datatype, MPI_Message*, MPI_Request*))

/* Requests. */
PHX_MPI_FUNCTION(int, Wait, (MPI_Request * request, MPI_Status* status))
PHX_MPI_FUNCTION(int, Test, (MPI_Request * request, int* flag, MPI_Status* status))
PHX_MPI_FUNCTION(int, Waitall, (int count, MPI_Request requests[], MPI_Status* statuses))
PHX_MPI_FUNCTION(int, Testall, (int count, MPI_Request requests[], int* flag, MPI_Status*))
PHX_MPI_FUNCTION(int, Waitany, (int count, MPI_Request requests[], int* index, MPI_Status*))
PHX_MPI_FUNCTION(int, Testany, (int, MPI_Request requests[], int* index, int* flag, MPI_Status*))
PHX_MPI_FUNCTION(int, Waitsome, (int, MPI_Request requests[], int*, int indices[], MPI_Status*))
PHX_MPI_FUNCTION(int, Testsome, (int, MPI_Request requests[], int*, int indices[], MPI_Status*))
PHX_MPI_FUNCTION(int, Request_free, (MPI_Request * request))
PHX_MPI_FUNCTION(int, Request_get_status, (MPI_Request request, int* flag, MPI_Status* status))
PHX_MPI_FUNCTION(int, Cancel, (MPI_Request * request))
PHX_MPI_FUNCTION(int, Start, (MPI_Request * request))
PHX_MPI_FUNCTION(int, Startall, (int count, MPI_Request requests[]))
PHX_MPI_FUNCTION(int, Grequest_start,
                 (MPI_Grequest_query_function*, MPI_Grequest_free_function*,
                  MPI_Grequest_cancel_function*, void* extra, MPI_Request*))
PHX_MPI_FUNCTION(int, Grequest_complete, (MPI_Request request))
