! Fortran beside C: attributes that one language sets and the other reads, kinds of real numbers,
! constants and error codes of what is left out. Functions of C are called by their own names.
module deletions
  use mpi
  implicit none
  integer :: deleted = 0
contains
  subroutine count_deletion(comm, key, value, extra, error)
    integer :: comm, key, error
    integer(kind=mpi_address_kind) :: value, extra
    if (comm /= mpi_comm_null .and. key /= mpi_keyval_invalid) deleted = deleted + int(value + extra)
    error = mpi_success
  end subroutine
end module deletions

program languages
  use mpi
  use deletions
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function c_set(comm, key, value) bind(c, name='MPI_Comm_set_attr')
      import
      integer(c_int), value :: comm, key
      type(c_ptr), value :: value
    end function
    integer(c_int) function c_get(comm, key, value, flag) bind(c, name='MPI_Comm_get_attr')
      import
      integer(c_int), value :: comm, key
      type(c_ptr) :: value
      integer(c_int) :: flag
    end function
    integer(c_int) function c_type_get(datatype, key, value, flag) bind(c, name='MPI_Type_get_attr')
      import
      integer(c_int), value :: datatype, key
      type(c_ptr) :: value
      integer(c_int) :: flag
    end function
  end interface
  integer :: wrong = 0, e
  call mpi_init(ierror=e)
  call mpi_comm_set_errhandler(mpi_comm_world, mpi_errors_return, e)
  call mpi_comm_set_errhandler(mpi_comm_self, mpi_errors_return, e)
  call attributes
  call attributes_of_datatypes
  call kinds
  call left_out
  call mpi_finalize(e)
  if (wrong /= 0) stop 1

contains

  subroutine check(holds, number)
    logical, intent(in) :: holds
    integer, intent(in) :: number
    if (holds) return
    print *, 'check', number, 'does not hold'
    wrong = wrong + 1
  end subroutine

  ! The address of a word, or of an integer, is what C finds.
  subroutine attributes
    integer(kind=mpi_address_kind), parameter :: large = 2_mpi_address_kind**40 + 5
    integer(kind=mpi_address_kind) :: value, extra
    integer(kind=mpi_address_kind), pointer :: word
    integer, pointer :: number
    integer, target :: own
    integer :: key, e, small, comm, old
    integer(c_int) :: found
    logical :: flag
    type(c_ptr) :: address
    extra = 100
    call mpi_comm_create_keyval(mpi_comm_dup_fn, count_deletion, key, extra, e)
    value = large
    call mpi_comm_set_attr(mpi_comm_self, key, value, e)
    call check(e == mpi_success, 1)
    value = 0  ! it is kept, not looked at again
    call check(c_get(mpi_comm_self, key, address, found) == mpi_success .and. found /= 0, 2)
    call c_f_pointer(address, word)
    call check(word == large, 3)
    call mpi_comm_get_attr(mpi_comm_self, key, value, flag, e)
    call check(flag .and. value == large, 4)
    call mpi_attr_get(mpi_comm_self, key, small, flag, e)
    call check(flag .and. small == 5, 5)

    call mpi_comm_dup(mpi_comm_self, comm, e)  ! the copy is a value of its own
    deleted = 0
    value = 7
    call mpi_comm_set_attr(mpi_comm_self, key, value, e)
    call check(deleted == int(large + 100 - 2_mpi_address_kind**40), 6)
    call check(c_get(comm, key, address, found) == mpi_success .and. found /= 0, 7)
    call c_f_pointer(address, word)
    call check(word == large, 8)
    call mpi_comm_free(comm, e)

    ! What C has set is an address, here and in a copy.
    call check(c_set(mpi_comm_self, key, c_loc(own)) == mpi_success, 9)
    call mpi_comm_get_attr(mpi_comm_self, key, value, flag, e)
    call check(flag .and. value == transfer(c_loc(own), value), 10)
    call mpi_comm_dup(mpi_comm_self, comm, e)
    call check(c_get(comm, key, address, found) == mpi_success .and. found /= 0, 11)
    call check(c_associated(address, c_loc(own)), 12)
    call mpi_comm_free(comm, e)
    call mpi_comm_delete_attr(mpi_comm_self, key, e)

    call mpi_keyval_create(mpi_null_copy_fn, mpi_null_delete_fn, old, 0, e)
    call mpi_attr_put(mpi_comm_self, old, -3, e)
    call check(c_get(mpi_comm_self, old, address, found) == mpi_success .and. found /= 0, 13)
    call c_f_pointer(address, number)
    call check(number == -3, 14)
    call mpi_comm_get_attr(mpi_comm_self, old, value, flag, e)
    call check(flag .and. value == -3, 15)
    call mpi_attr_delete(mpi_comm_self, old, e)
  end subroutine

  subroutine attributes_of_datatypes
    integer(kind=mpi_address_kind) :: value, extra
    integer(kind=mpi_address_kind), pointer :: word
    integer :: key, e, datatype
    integer(c_int) :: found
    logical :: flag
    type(c_ptr) :: address
    extra = 0
    call mpi_type_create_keyval(mpi_type_null_copy_fn, mpi_type_null_delete_fn, key, extra, e)
    call mpi_type_contiguous(2, mpi_integer, datatype, e)
    value = 12345
    call mpi_type_set_attr(datatype, key, value, e)
    call check(c_type_get(datatype, key, address, found) == mpi_success .and. found /= 0, 20)
    call c_f_pointer(address, word)
    call check(word == 12345, 21)
    call mpi_type_get_attr(datatype, key, value, flag, e)
    call check(flag .and. value == 12345, 22)
    call mpi_type_free(datatype, e)
  end subroutine

  ! The numbers that the compiler chooses for so many digits. MPICH has none of more than double.
  subroutine kinds
    real(kind=selected_real_kind(6)) :: single(2)
    real(kind=selected_real_kind(15)) :: double(2)
    real(kind=selected_real_kind(18)) :: extended(2)
    real(kind=selected_real_kind(33)) :: quad(2)
    complex(kind=selected_real_kind(18)) :: pairs(2)
    integer :: datatype, e
    call mpi_type_create_f90_real(6, mpi_undefined, datatype, e)
    single = (/1.5, 2.25/)
    call mpi_reduce_local(single(1), single(2), 1, datatype, mpi_sum, e)
    call check(single(2) == 3.75, 30)
    call mpi_type_create_f90_real(15, mpi_undefined, datatype, e)
    double = (/1.5, 2.25/)
    call mpi_reduce_local(double(1), double(2), 1, datatype, mpi_sum, e)
    call check(double(2) == 3.75, 31)
    call mpi_type_create_f90_real(18, mpi_undefined, datatype, e)
    extended = (/1.5, 2.25/)
    if (e /= mpi_success) return
    call mpi_reduce_local(extended(1), extended(2), 1, datatype, mpi_sum, e)
    call check(extended(2) == 3.75, 32)
    call mpi_type_create_f90_real(33, mpi_undefined, datatype, e)
    quad = (/1.5, 2.25/)
    call mpi_reduce_local(quad(1), quad(2), 1, datatype, mpi_sum, e)
    call check(quad(2) == 3.75, 33)
    call mpi_type_create_f90_complex(18, mpi_undefined, datatype, e)
    pairs = (/(1.5, -1), (2.25, 3)/)
    call mpi_reduce_local(pairs(1), pairs(2), 1, datatype, mpi_sum, e)
    call check(real(pairs(2)) == 3.75 .and. aimag(pairs(2)) == 2, 34)
  end subroutine

  ! Programs that could use it compile, and are told. Others may have it.
  subroutine left_out
    integer :: file, window, e
    integer(kind=mpi_offset_kind) :: place
    integer(kind=mpi_address_kind) :: size
    place = mpi_displacement_current
    call check(place < 0 .and. mpi_lock_shared > 0 .and. mpi_win_flavor_create == 1, 40)
    e = -12345
    call mpi_file_open(mpi_comm_self, '/nowhere/at/all', mpi_mode_rdonly + mpi_mode_sequential, &
                       mpi_info_null, file, e)
    call check(e /= -12345 .and. e /= mpi_success, 41)
    e = -12345
    size = 0
    call mpi_win_create_dynamic(mpi_info_null, mpi_comm_self, window, e)
    call check(e /= -12345, 42)
    if (e == mpi_success) call mpi_win_free(window, e)
  end subroutine

end program languages
