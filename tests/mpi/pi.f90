! The number pi by a sum over all ranks, in the newer form of Fortran, with the module.
program pi
  use mpi
  implicit none
  integer, parameter :: pieces = 1000000
  integer :: rank, size, error, i, bytes, known
  double precision :: part, whole, x
  complex :: pairs(2, 3)
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  call mpi_comm_size(mpi_comm_world, size, error)
  part = 0
  do i = rank + 1, pieces, size
    x = (i - 0.5d0) / pieces
    part = part + 4 / (1 + x * x) / pieces
  end do
  call mpi_allreduce(part, whole, 1, mpi_double_precision, mpi_sum, mpi_comm_world, error)
  if (rank == 0) print '(a, f14.11)', 'pi is ', whole
  call mpi_sizeof(whole, bytes, error)
  call mpi_type_size(mpi_double_precision, known, error)
  if (bytes /= known) stop 2
  call mpi_sizeof(pairs(:, 1), bytes, error)
  call mpi_type_size(mpi_complex, known, error)
  if (bytes /= known) stop 3
  call mpi_finalize(error)
  if (abs(whole - acos(-1d0)) > 1d-10) stop 1
end program pi
