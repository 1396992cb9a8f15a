! hangs.c in Fortran, through the binding that the compiler is told.
! ring: every rank receives from the next one.  pending_ring: likewise, by MPI_Irecv and MPI_Wait.  missing: the last rank
! computes while the others are in MPI_Allreduce.  abort: the last rank calls MPI_Abort while the others wait for it.
#include "bindings.inc"

program hangs
  USE_MPI
  implicit none
  INCLUDE_MPI
  character(len=20) :: way
  integer :: rank, ranks, next, error, values(1)
  double precision :: one(1), total(1)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call get_command_argument(1, way)
  next = mod(rank + 1, ranks)
  values = 0
  one = 1
  if (way == 'ring') call ring()
  if (way == 'pending_ring') call pending_ring()
  if (way == 'missing') call missing()
  if (way == 'abort') call abort_all()
  call MPI_Finalize(error)

contains ! a procedure for each: gfortran gives some calls the line of a declaration

  subroutine ring()
    call MPI_Recv(values, 1, MPI_INTEGER, next, 17, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error) ! ring
  end subroutine

  subroutine pending_ring()
    REQUEST :: request
    call MPI_Irecv(values, 1, MPI_INTEGER, next, 17, MPI_COMM_WORLD, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error) ! pending_ring
  end subroutine

  subroutine missing()
    COMM :: half
    double precision, volatile :: work
    integer :: i
    call MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, half, error) ! its ranks run backwards
    call MPI_Comm_set_name(half, 'backwards', error)
    do i = 1, 3
      call MPI_Allreduce(one, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, half, error)
    end do
    work = 1
    do while (rank == ranks - 1)
      work = work * 1.0000001d0 + 1d-9 ! computes
    end do
    call MPI_Allreduce(one, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, half, error) ! missing
  end subroutine

  subroutine abort_all()
    call MPI_Allreduce(one, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    if (rank == ranks - 1) then
      call sleep(1) ! the others have come by then
      call MPI_Abort(MPI_COMM_WORLD, 7, error) ! abort
    end if
    call MPI_Allreduce(one, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error) ! aborted
  end subroutine
end program
