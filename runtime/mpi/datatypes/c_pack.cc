#include <cstring>
#include <memory>

#include "runtime/mpi/base/communicator_core.h"
#include "runtime/mpi/base/entry.h"
#include "runtime/mpi/datatypes/external32.h"
#include "runtime/mpi/datatypes/pack.h"
#include "runtime/mpi/datatypes/status.h"

using namespace phx::mpi;

namespace {

/// Fails unless `bytes` more fit between the position and the end of a packed buffer.
void check_room(const void* packed, MPI_Aint size, MPI_Aint position, MPI_Count bytes) {
  require(size >= 0 && position >= 0, MPI_ERR_ARG, "the size or the position is negative");
  require(packed != nullptr || bytes == 0, MPI_ERR_BUFFER, "the packed buffer is null");
  require(bytes <= size - position, MPI_ERR_TRUNCATE,
          "the packed buffer ends before the elements do");
}

void check_format(const char* format) {
  require(format != nullptr && std::strcmp(format, "external32") == 0, MPI_ERR_ARG,
          "the only representation is external32");
}

std::unique_ptr<std::byte[]> room_for(MPI_Count bytes) {
  return std::unique_ptr<std::byte[]>(new std::byte[static_cast<std::size_t>(bytes)]);
}

}  // namespace

PHX_MPI_ENTRY(int, Get_address, (const void* location, MPI_Aint* address)) {
  return enter("MPI_Get_address", [&] {
    require(address != nullptr, MPI_ERR_ARG, "the pointer to the address is null");
    *address = reinterpret_cast<MPI_Aint>(location);
  });
}

PHX_MPI_ENTRY(int, Address, (void* location, MPI_Aint* address)) {
  return PMPI_Get_address(location, address);
}

PHX_MPI_ENTRY(MPI_Aint, Aint_add, (MPI_Aint base, MPI_Aint displacement)) {
  return base + displacement;
}

PHX_MPI_ENTRY(MPI_Aint, Aint_diff, (MPI_Aint a, MPI_Aint b)) {
  return a - b;
}

PHX_MPI_ENTRY(int, Pack,
              (const void* in, int count, MPI_Datatype datatype, void* out, int size, int* position,
               MPI_Comm comm)) {
  return enter("MPI_Pack", comm, [&] {
    require(communicators().find(comm) != nullptr, MPI_ERR_COMM, "this is no communicator");
    require(position != nullptr, MPI_ERR_ARG, "the pointer to the position is null");
    const Buffer buffer(in, count, datatype);
    check_room(out, size, *position, buffer.bytes());
    buffer.pack(0, buffer.bytes(), static_cast<std::byte*>(out) + *position);
    *position += static_cast<int>(buffer.bytes());
  });
}

PHX_MPI_ENTRY(int, Unpack,
              (const void* in, int size, int* position, void* out, int count, MPI_Datatype datatype,
               MPI_Comm comm)) {
  return enter("MPI_Unpack", comm, [&] {
    require(communicators().find(comm) != nullptr, MPI_ERR_COMM, "this is no communicator");
    require(position != nullptr, MPI_ERR_ARG, "the pointer to the position is null");
    const Buffer buffer(out, count, datatype);
    check_room(in, size, *position, buffer.bytes());
    buffer.unpack(0, buffer.bytes(), static_cast<const std::byte*>(in) + *position);
    *position += static_cast<int>(buffer.bytes());
  });
}

PHX_MPI_ENTRY(int, Pack_size, (int count, MPI_Datatype datatype, MPI_Comm comm, int* size)) {
  return enter("MPI_Pack_size", comm, [&] {
    need({size});
    require(communicators().find(comm) != nullptr, MPI_ERR_COMM, "this is no communicator");
    require(count >= 0, MPI_ERR_COUNT, "the count is negative");
    *size = int_or_undefined(committed(datatype).layout().size() * count);
  });
}

PHX_MPI_ENTRY(int, Pack_external,
              (const char* format, const void* in, int count, MPI_Datatype datatype, void* out,
               MPI_Aint size, MPI_Aint* position)) {
  return enter("MPI_Pack_external", [&] {
    check_format(format);
    require(position != nullptr, MPI_ERR_ARG, "the pointer to the position is null");
    const Buffer buffer(in, count, datatype);
    const Signature& signature = *committed(datatype).layout().signature;
    check_room(out, size, *position, signature.external() * count);
    const auto packed = room_for(buffer.bytes());
    buffer.pack(0, buffer.bytes(), packed.get());
    to_external32(signature, count, packed.get(), static_cast<std::byte*>(out) + *position);
    *position += signature.external() * count;
  });
}

PHX_MPI_ENTRY(int, Unpack_external,
              (const char* format, const void* in, MPI_Aint size, MPI_Aint* position, void* out,
               int count, MPI_Datatype datatype)) {
  return enter("MPI_Unpack_external", [&] {
    check_format(format);
    require(position != nullptr, MPI_ERR_ARG, "the pointer to the position is null");
    const Buffer buffer(out, count, datatype);
    const Signature& signature = *committed(datatype).layout().signature;
    check_room(in, size, *position, signature.external() * count);
    const auto packed = room_for(buffer.bytes());
    from_external32(signature, count, static_cast<const std::byte*>(in) + *position, packed.get());
    buffer.unpack(0, buffer.bytes(), packed.get());
    *position += signature.external() * count;
  });
}

PHX_MPI_ENTRY(int, Pack_external_size,
              (const char* format, int count, MPI_Datatype datatype, MPI_Aint* size)) {
  return enter("MPI_Pack_external_size", [&] {
    need({size});
    check_format(format);
    require(count >= 0, MPI_ERR_COUNT, "the count is negative");
    *size = committed(datatype).layout().signature->external() * count;
  });
}
