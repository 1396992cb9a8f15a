! special_arguments.c in Fortran, through the binding that the compiler is told: the same lines.
#include "bindings.inc"

program special_arguments
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: rank, ranks, next, previous, error, code, class, i, count
  integer :: values(16), got(16), counts(2)
  integer, asynchronous, volatile, save :: numbers(2)
  double precision, asynchronous, volatile, save :: reals(2)
  double precision :: matrix(4, 4), column_got(4)
  integer :: lengths(2)
  integer(kind=MPI_ADDRESS_KIND) :: places(2)
  DATATYPE :: types(2), record, column
  REQUEST :: requests(4), request
  STATUS :: status
  STATUSES(4)
  logical :: flag
  character(len=2000) :: text = '', all(16)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)

  values(1) = rank + 1
  values(2) = 10 * (rank + 1)
  call MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call line('allreduce', values, 2)
  values(1) = rank + 1
  if (rank == 1) then
    call MPI_Reduce(MPI_IN_PLACE, values, 1, MPI_INTEGER, MPI_MAX, 1, MPI_COMM_WORLD, error)
    call line('reduce', values, 1)
  else
    call MPI_Reduce(values, got, 1, MPI_INTEGER, MPI_MAX, 1, MPI_COMM_WORLD, error)
  end if
  values(1:ranks) = 0
  values(rank + 1) = rank + 1
  if (rank == 0) then
    call MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call line('gather', values, ranks)
  else
    call MPI_Gather(values(rank + 1), 1, MPI_INTEGER, got, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  end if
  do i = 1, ranks
    values(i) = 100 + i - 1
  end do
  got(1) = -1
  if (rank == 0) then
    call MPI_Scatter(values, 1, MPI_INTEGER, MPI_IN_PLACE, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  else
    call MPI_Scatter(values, 1, MPI_INTEGER, got, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  end if
  call line('scatter', got, 1)
  values(1:ranks) = 0
  values(rank + 1) = rank + 1
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
  call line('allgather', values, ranks)
  do i = 1, ranks
    values(i) = 10 * rank + i - 1
  end do
  call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
  call line('alltoall', values, ranks)
  values(1) = rank + 1
  call MPI_Scan(MPI_IN_PLACE, values, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call line('scan', values, 1)
  do i = 1, ranks
    values(i) = i * (rank + 1)
  end do
  call MPI_Reduce_scatter_block(MPI_IN_PLACE, values, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call line('reduce_scatter_block', values, 1)
  values(1) = rank + 5
  call MPI_Iallreduce(MPI_IN_PLACE, values, 1, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD, request, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call line('iallreduce', values, 1)

  numbers = 0
  reals = 0
  if (rank == 0) then
    numbers(1) = 11
    numbers(2) = 22
    reals(1) = 1.5d0
    reals(2) = 2.5d0
  end if
  lengths = 2
  call MPI_Get_address(numbers, places(1), error)
  call MPI_Get_address(reals, places(2), error)
  types(1) = MPI_INTEGER
  types(2) = MPI_DOUBLE_PRECISION
  call MPI_Type_create_struct(2, lengths, places, types, record, error)
  call MPI_Type_commit(record, error)
  call MPI_Bcast(MPI_BOTTOM, 1, record, 0, MPI_COMM_WORLD, error)
  values(1:2) = numbers
  values(3:4) = nint(2 * reals)
  call line('bottom', values, 4)
  if (rank == 0) then
    numbers = numbers + 1
    call MPI_Send(MPI_BOTTOM, 1, record, ranks - 1, 5, MPI_COMM_WORLD, error)
  else if (rank == ranks - 1) then
    call MPI_Irecv(MPI_BOTTOM, 1, record, 0, 5, MPI_COMM_WORLD, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    values(1:2) = numbers
    call line('from bottom', values, 2)
  end if
  call MPI_Type_free(record, error)

  do i = 1, 4
    matrix(:, i) = 10 * rank + i ! C's row i
  end do
  call MPI_Type_vector(4, 1, 4, MPI_DOUBLE_PRECISION, column, error)
  call MPI_Type_commit(column, error)
  call MPI_Sendrecv(matrix(2, 1), 1, column, next, 6, column_got, 4, MPI_DOUBLE_PRECISION, previous, 6, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE, error)
  call MPI_Type_free(column, error)
  values(1:4) = nint(column_got)
  call line('column', values, 4)

  values(1:3) = rank
  call MPI_Isend(values, 3, MPI_INTEGER, next, 7, MPI_COMM_WORLD, request, error)
  call MPI_Recv(got, 16, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call MPI_Get_count(status, MPI_INTEGER, count, error)
  values(4) = SOURCE_OF(status)
  values(5) = TAG_OF(status)
  values(6) = count
  call line('status', values(4), 3)
  call MPI_Barrier(MPI_COMM_WORLD, error)

  call MPI_Irecv(got(1), 2, MPI_INTEGER, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, requests(1), error)
  call MPI_Irecv(got(5), 4, MPI_INTEGER, previous, 9, MPI_COMM_WORLD, requests(2), error)
  call MPI_Isend(values, 1, MPI_INTEGER, next, 8, MPI_COMM_WORLD, requests(3), error)
  call MPI_Isend(values, 3, MPI_INTEGER, next, 9, MPI_COMM_WORLD, requests(4), error)
  call MPI_Waitall(4, requests, statuses, error)
  do i = 1, 2
    call MPI_Get_count(STATUS_AT(i), MPI_INTEGER, counts(i), error)
  end do
  call line('statuses', counts, 2)
  call MPI_Irecv(got(1), 1, MPI_INTEGER, MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, requests(1), error)
  call MPI_Irecv(got(2), 1, MPI_INTEGER, previous, 11, MPI_COMM_WORLD, requests(2), error)
  call MPI_Isend(values, 1, MPI_INTEGER, next, 10, MPI_COMM_WORLD, requests(3), error)
  call MPI_Isend(values, 1, MPI_INTEGER, next, 11, MPI_COMM_WORLD, requests(4), error)
  flag = .false.
  do while (.not. flag)
    call MPI_Testall(4, requests, flag, MPI_STATUSES_IGNORE, error)
  end do
  call line('ignored', got, 2)

  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, error)
  call MPI_Send(values, -1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, code)
  call MPI_Error_class(code, class, error)
  values(1) = merge(1, 0, class == MPI_ERR_COUNT)
  call MPI_Bcast(values(3), 1, MPI_INTEGER, 999, MPI_COMM_SELF, code)
  call MPI_Error_class(code, class, error)
  values(2) = merge(1, 0, class == MPI_ERR_ROOT)
  call line('rejected', values, 2)
  do i = 1, 3
    call PMPI_Barrier(MPI_COMM_WORLD, error)
  end do
  call MPI_Gather(text, 2000, MPI_CHARACTER, all, 2000, MPI_CHARACTER, 0, MPI_COMM_WORLD, error)
  do i = 1, merge(ranks, 0, rank == 0) ! by rank 0: some launchers mix up the lines of several
    print '(a)', trim(all(i))
  end do
  call MPI_Finalize(error)

contains
  subroutine line(what, numbers, count)
    character(len=*), intent(in) :: what
    integer, intent(in) :: numbers(*), count
    character(len=100) :: said
    write (said, '(i0,1x,a,16(1x,i0))') rank, what, numbers(1:count)
    text = trim(text)//trim(said)//new_line('a')
  end subroutine
end program
