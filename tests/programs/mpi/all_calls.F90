! Every kind of MPI call in Fortran, through the binding that the compiler is told: BINDING_MPIFH, BINDING_MPI or
! BINDING_F08. Counts what it does and prints it as tally.h describes.
#include "bindings.inc"

module tallies
  implicit none
  integer, parameter :: most = 128
  character(len=40) :: names(most)
  integer :: calls(most) = 0, sent_bytes(most) = 0, received_bytes(most) = 0, known = 0
  integer :: out(4096) = 0, in(4096) = 0
  integer :: rank, ranks, next, previous
contains
  subroutine tally(name, sent, received)
    character(len=*), intent(in) :: name
    integer, intent(in) :: sent, received
    integer :: i
    do i = 1, known
      if (names(i) == name) exit
    end do
    if (i > known) then
      known = i
      names(i) = name
    end if
    calls(i) = calls(i) + 1
    sent_bytes(i) = sent_bytes(i) + sent
    received_bytes(i) = received_bytes(i) + received
  end subroutine

  subroutine print_tallies()
    integer :: i
    do i = 1, known
      print '(i0,1x,a,3(1x,i0))', rank, trim(names(i)), calls(i), sent_bytes(i), received_bytes(i)
    end do
  end subroutine
end module

subroutine messages(where)
  use tallies
  USE_MPI
  implicit none
  INCLUDE_MPI
  COMM :: where
  REQUEST :: one, several(4)
  STATUS :: status
  STATUSES(4)
  MESSAGE :: message
  logical :: flag
  integer :: error, index, found, indices(4), i, done

  if (mod(rank, 2) == 0) then
    call MPI_Ssend(out, 10, MPI_INTEGER, next, 1, where, error)
    call MPI_Recv(in, 100, MPI_INTEGER, previous, 1, where, status, error)
  else
    call MPI_Recv(in, 100, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, where, MPI_STATUS_IGNORE, error)
    call MPI_Ssend(out, 10, MPI_INTEGER, next, 1, where, error)
  end if
  call tally('MPI_Ssend', 40, 0)
  call tally('MPI_Recv', 0, 40)
  call MPI_Barrier(where, error)
  call tally('MPI_Barrier', 0, 0)
  call MPI_Send(out, 3, MPI_INTEGER, MPI_PROC_NULL, 1, where, error)
  call tally('MPI_Send', 0, 0)
  call MPI_Sendrecv(out, 7, MPI_INTEGER, next, 2, in, 50, MPI_INTEGER, previous, 2, where, MPI_STATUS_IGNORE, error)
  call tally('MPI_Sendrecv', 28, 28)
  call MPI_Sendrecv_replace(in, 6, MPI_INTEGER, next, 3, MPI_ANY_SOURCE, 3, where, MPI_STATUS_IGNORE, error)
  call tally('MPI_Sendrecv_replace', 24, 24)

  call MPI_Irecv(in, 99, MPI_INTEGER, previous, 4, where, one, error)
  call tally('MPI_Irecv', 0, 20)
  call MPI_Send(out, 5, MPI_INTEGER, next, 4, where, error)
  call tally('MPI_Send', 20, 0)
  call MPI_Wait(one, MPI_STATUS_IGNORE, error)
  call tally('MPI_Wait', 0, 0)
  call MPI_Irecv(in, 99, MPI_INTEGER, MPI_ANY_SOURCE, 5, where, several(1), error)
  call tally('MPI_Irecv', 0, 16)
  call MPI_Irecv(in(101), 99, MPI_INTEGER, previous, 6, where, several(2), error)
  call tally('MPI_Irecv', 0, 12)
  call MPI_Isend(out, 4, MPI_INTEGER, next, 5, where, several(3), error)
  call tally('MPI_Isend', 16, 0)
  call MPI_Issend(out, 3, MPI_INTEGER, next, 6, where, several(4), error)
  call tally('MPI_Issend', 12, 0)
  call MPI_Waitall(4, several, MPI_STATUSES_IGNORE, error)
  call tally('MPI_Waitall', 0, 0)

  do i = 1, 2
    call MPI_Irecv(in(100 * i), 99, MPI_INTEGER, previous, 6 + i, where, several(i), error)
    call tally('MPI_Irecv', 0, 4 * i)
    call MPI_Isend(out, i, MPI_INTEGER, next, 6 + i, where, several(2 + i), error)
    call tally('MPI_Isend', 4 * i, 0)
  end do
  do i = 1, 4
    call MPI_Waitany(4, several, index, MPI_STATUS_IGNORE, error)
    call tally('MPI_Waitany', 0, 0)
  end do
  call MPI_Irecv(in, 99, MPI_INTEGER, previous, 9, where, several(1), error)
  call tally('MPI_Irecv', 0, 36)
  call MPI_Isend(out, 9, MPI_INTEGER, next, 9, where, several(2), error)
  call tally('MPI_Isend', 36, 0)
  done = 0
  do while (done < 2)
    call MPI_Waitsome(2, several, found, indices, statuses, error)
    call tally('MPI_Waitsome', 0, 0)
    done = done + found
  end do

  call MPI_Irecv(in, 99, MPI_INTEGER, previous, 10, where, one, error)
  call tally('MPI_Irecv', 0, 32)
  call MPI_Isend(out, 8, MPI_INTEGER, next, 10, where, several(1), error)
  call tally('MPI_Isend', 32, 0)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(one, flag, MPI_STATUS_IGNORE, error)
    call tally('MPI_Test', 0, 0)
  end do
  flag = .false.
  do while (.not. flag)
    call MPI_Testall(1, several, flag, MPI_STATUSES_IGNORE, error)
    call tally('MPI_Testall', 0, 0)
  end do
  call MPI_Irecv(in, 99, MPI_INTEGER, previous, 11, where, several(1), error)
  call tally('MPI_Irecv', 0, 28)
  call MPI_Isend(out, 7, MPI_INTEGER, next, 11, where, several(2), error)
  call tally('MPI_Isend', 28, 0)
  flag = .false.
  do while (.not. flag)
    call MPI_Testany(2, several, index, flag, MPI_STATUS_IGNORE, error)
    call tally('MPI_Testany', 0, 0)
  end do
  found = 0
  do while (found == 0)
    call MPI_Testsome(2, several, found, indices, MPI_STATUSES_IGNORE, error)
    call tally('MPI_Testsome', 0, 0)
  end do

  call MPI_Isend(out, 11, MPI_INTEGER, next, 12, where, one, error)
  call tally('MPI_Isend', 44, 0)
  call MPI_Probe(MPI_ANY_SOURCE, 12, where, MPI_STATUS_IGNORE, error)
  call tally('MPI_Probe', 0, 0)
  flag = .false.
  do while (.not. flag)
    call MPI_Iprobe(previous, 12, where, flag, MPI_STATUS_IGNORE, error)
    call tally('MPI_Iprobe', 0, 0)
  end do
  call MPI_Recv(in, 99, MPI_INTEGER, previous, 12, where, MPI_STATUS_IGNORE, error)
  call tally('MPI_Recv', 0, 44)
  call MPI_Wait(one, status, error)
  call tally('MPI_Wait', 0, 0)
  call MPI_Isend(out, 12, MPI_INTEGER, next, 13, where, several(1), error)
  call tally('MPI_Isend', 48, 0)
  call MPI_Isend(out, 13, MPI_INTEGER, next, 14, where, several(2), error)
  call tally('MPI_Isend', 52, 0)
  call MPI_Mprobe(MPI_ANY_SOURCE, 13, where, message, MPI_STATUS_IGNORE, error)
  call tally('MPI_Mprobe', 0, 0)
  call MPI_Mrecv(in, 99, MPI_INTEGER, message, MPI_STATUS_IGNORE, error)
  call tally('MPI_Mrecv', 0, 48)
  flag = .false.
  do while (.not. flag)
    call MPI_Improbe(MPI_ANY_SOURCE, 14, where, flag, message, MPI_STATUS_IGNORE, error)
    call tally('MPI_Improbe', 0, 0)
  end do
  call MPI_Imrecv(in, 99, MPI_INTEGER, message, several(3), error)
  call tally('MPI_Imrecv', 0, 52)
  call MPI_Waitall(3, several, MPI_STATUSES_IGNORE, error)
  call tally('MPI_Waitall', 0, 0)

  call MPI_Recv_init(in, 99, MPI_INTEGER, previous, 15, where, several(1), error)
  call tally('MPI_Recv_init', 0, 0)
  call MPI_Send_init(out, 14, MPI_INTEGER, next, 15, where, several(2), error)
  call tally('MPI_Send_init', 0, 0)
  do i = 1, 3
    call MPI_Startall(2, several, error)
    call tally('MPI_Startall', 56, 56)
    call MPI_Waitall(2, several, statuses, error)
    call tally('MPI_Waitall', 0, 0)
  end do
  do i = 1, 2
    call MPI_Start(several(i), error)
    if (i == 1) call tally('MPI_Start', 0, 56)
    if (i == 2) call tally('MPI_Start', 56, 0)
  end do
  do i = 1, 2
    call MPI_Wait(several(i), MPI_STATUS_IGNORE, error)
    call tally('MPI_Wait', 0, 0)
    call MPI_Request_free(several(i), error)
    call tally('MPI_Request_free', 0, 0)
  end do
end subroutine

subroutine derived_types(where)
  use tallies
  USE_MPI
  implicit none
  INCLUDE_MPI
  COMM :: where
  DATATYPE :: column
  double precision :: matrix(16, 16), got(16)
  integer :: error
  matrix = 0
  call MPI_Type_vector(16, 1, 16, MPI_DOUBLE_PRECISION, column, error)
  call MPI_Type_commit(column, error)
  call MPI_Sendrecv(matrix(3, 1), 1, column, next, 30, got, 16, MPI_DOUBLE_PRECISION, previous, 30, where, &
                    MPI_STATUS_IGNORE, error)
  call tally('MPI_Sendrecv', 128, 128)
  call MPI_Type_free(column, error)
  call tally('MPI_Type_free', 0, 0)
end subroutine

subroutine collectives(where)
  use tallies
  USE_MPI
  implicit none
  INCLUDE_MPI
  COMM :: where
  REQUEST :: several(3)
  DATATYPE :: types(64)
  integer :: counts(64), displacements(64), byte_displacements(64), own_counts(64), own_displacements(64)
  integer :: more(4096, 3), own_byte_displacements(64), total, root, own, error, i
  logical :: is_root
  total = 0
  root = ranks - 1
  own = rank + 1
  is_root = rank == root
  do i = 1, ranks
    counts(i) = i
    displacements(i) = total
    byte_displacements(i) = 4 * total
    total = total + i
    own_counts(i) = own
    own_displacements(i) = (i - 1) * own
    own_byte_displacements(i) = 4 * (i - 1) * own
    types(i) = MPI_INTEGER
  end do
  call MPI_Barrier(where, error)
  call tally('MPI_Barrier', 0, 0)
  call MPI_Bcast(in, 21, MPI_INTEGER, root, where, error)
  call tally('MPI_Bcast', merge(84, 0, is_root), merge(0, 84, is_root))
  call MPI_Reduce(out, in, 5, MPI_INTEGER, MPI_SUM, root, where, error)
  call tally('MPI_Reduce', 20, merge(20, 0, is_root))
  call MPI_Allreduce(out, in, 6, MPI_INTEGER, MPI_SUM, where, error)
  call tally('MPI_Allreduce', 24, 24)
  call MPI_Allreduce(MPI_IN_PLACE, in, 7, MPI_INTEGER, MPI_SUM, where, error)
  call tally('MPI_Allreduce', 28, 28)
  call MPI_Scan(out, in, 3, MPI_INTEGER, MPI_SUM, where, error)
  call tally('MPI_Scan', 12, 12)
  call MPI_Exscan(out, in, 3, MPI_INTEGER, MPI_SUM, where, error)
  call tally('MPI_Exscan', 12, merge(0, 12, rank == 0))
  if (is_root) then
    call MPI_Gather(MPI_IN_PLACE, 0, MPI_INTEGER, in, 4, MPI_INTEGER, root, where, error)
    call MPI_Gatherv(MPI_IN_PLACE, 0, MPI_INTEGER, in, counts, displacements, MPI_INTEGER, root, where, error)
    call MPI_Scatter(out, 4, MPI_INTEGER, MPI_IN_PLACE, 4, MPI_INTEGER, root, where, error)
  else
    call MPI_Gather(out, 4, MPI_INTEGER, in, 4, MPI_INTEGER, root, where, error)
    call MPI_Gatherv(out, own, MPI_INTEGER, in, counts, displacements, MPI_INTEGER, root, where, error)
    call MPI_Scatter(out, 4, MPI_INTEGER, in, 4, MPI_INTEGER, root, where, error)
  end if
  call tally('MPI_Gather', 16, merge(16 * ranks, 0, is_root))
  call tally('MPI_Gatherv', 4 * own, merge(4 * total, 0, is_root))
  call tally('MPI_Scatter', merge(16 * ranks, 0, is_root), 16)
  call MPI_Scatterv(out, counts, displacements, MPI_INTEGER, in, own, MPI_INTEGER, root, where, error)
  call tally('MPI_Scatterv', merge(4 * total, 0, is_root), 4 * own)
  call MPI_Allgather(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, where, error)
  call tally('MPI_Allgather', 8, 8 * ranks)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, in, 2, MPI_INTEGER, where, error)
  call tally('MPI_Allgather', 8, 8 * ranks)
  call MPI_Allgatherv(out, own, MPI_INTEGER, in, counts, displacements, MPI_INTEGER, where, error)
  call tally('MPI_Allgatherv', 4 * own, 4 * total)
  call MPI_Alltoall(out, 3, MPI_INTEGER, in, 3, MPI_INTEGER, where, error)
  call tally('MPI_Alltoall', 12 * ranks, 12 * ranks)
  call MPI_Alltoallv(out, counts, displacements, MPI_INTEGER, in, own_counts, own_displacements, MPI_INTEGER, &
                     where, error)
  call tally('MPI_Alltoallv', 4 * total, 4 * own * ranks)
  call MPI_Alltoallw(out, counts, byte_displacements, types, in, own_counts, own_byte_displacements, types, &
                     where, error)
  call tally('MPI_Alltoallw', 4 * total, 4 * own * ranks)
  call MPI_Reduce_scatter(out, in, counts, MPI_INTEGER, MPI_SUM, where, error)
  call tally('MPI_Reduce_scatter', 4 * total, 4 * own)
  call MPI_Reduce_scatter_block(out, in, 2, MPI_INTEGER, MPI_SUM, where, error)
  call tally('MPI_Reduce_scatter_block', 8 * ranks, 8)

  call MPI_Ibarrier(where, several(1), error)
  call tally('MPI_Ibarrier', 0, 0)
  call MPI_Ibcast(more(1, 1), 9, MPI_INTEGER, 0, where, several(2), error)
  call tally('MPI_Ibcast', merge(36, 0, rank == 0), merge(0, 36, rank == 0))
  call MPI_Iallreduce(out, more(1, 2), 8, MPI_INTEGER, MPI_MAX, where, several(3), error)
  call tally('MPI_Iallreduce', 32, 32)
  call MPI_Waitall(3, several, MPI_STATUSES_IGNORE, error)
  call tally('MPI_Waitall', 0, 0)
end subroutine

subroutine communicators()
  use tallies
  USE_MPI
  implicit none
  INCLUDE_MPI
  COMM :: half, twin, ring
  integer :: error, extents(1)
  logical :: periods(1)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, error)
  call tally('MPI_Comm_split', 0, 0)
  call MPI_Comm_dup(half, twin, error)
  call tally('MPI_Comm_dup', 0, 0)
  call MPI_Comm_set_name(twin, 'the twin', error)
  call tally('MPI_Comm_set_name', 0, 0)
  call MPI_Allreduce(out, in, 1, MPI_INTEGER, MPI_SUM, twin, error)
  call tally('MPI_Allreduce', 4, 4)
  call MPI_Comm_free(twin, error)
  call tally('MPI_Comm_free', 0, 0)
  call MPI_Comm_free(half, error)
  call tally('MPI_Comm_free', 0, 0)
  extents(1) = ranks
  periods(1) = .true.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, extents, periods, .false., ring, error)
  call tally('MPI_Cart_create', 0, 0)
  call MPI_Neighbor_allgather(out, 3, MPI_INTEGER, in, 3, MPI_INTEGER, ring, error)
  call tally('MPI_Neighbor_allgather', 24, 24)
  call MPI_Comm_free(ring, error)
  call tally('MPI_Comm_free', 0, 0)
end subroutine

subroutine one_sided()
  use tallies
  USE_MPI
  implicit none
  INCLUDE_MPI
  WINDOW :: exposed
  integer :: error
  integer, asynchronous, save :: memory(100)
  integer(kind=MPI_ADDRESS_KIND) :: bytes, none
  bytes = 400
  none = 0
  call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, exposed, error)
  call tally('MPI_Win_create', 0, 0)
  call MPI_Win_fence(0, exposed, error)
  call tally('MPI_Win_fence', 0, 0)
  call MPI_Put(out, 5, MPI_INTEGER, next, none, 5, MPI_INTEGER, exposed, error)
  call tally('MPI_Put', 20, 0)
  call MPI_Win_fence(0, exposed, error)
  call tally('MPI_Win_fence', 0, 0)
  call MPI_Get(in, 6, MPI_INTEGER, previous, none, 6, MPI_INTEGER, exposed, error)
  call tally('MPI_Get', 0, 24)
  call MPI_Win_fence(0, exposed, error)
  call tally('MPI_Win_fence', 0, 0)
  call MPI_Win_free(exposed, error)
  call tally('MPI_Win_free', 0, 0)
end subroutine

subroutine files(path)
  use tallies
  USE_MPI
  implicit none
  INCLUDE_MPI
  character(len=*), intent(in) :: path
  FILE_HANDLE :: shared
  STATUS :: status
  integer(kind=MPI_OFFSET_KIND) :: at
  integer :: error
  at = rank * 400
  call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, shared, error)
  call tally('MPI_File_open', 0, 0)
  call MPI_File_write_at(shared, at, out, 100, MPI_INTEGER, MPI_STATUS_IGNORE, error)
  call tally('MPI_File_write_at', 400, 0)
  call MPI_File_sync(shared, error)
  call tally('MPI_File_sync', 0, 0)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call tally('MPI_Barrier', 0, 0)
  call MPI_File_read_at_all(shared, at, in, 50, MPI_INTEGER, status, error)
  call tally('MPI_File_read_at_all', 0, 200)
  call MPI_File_close(shared, error)
  call tally('MPI_File_close', 0, 0)
end subroutine

program all_calls
  use tallies
  USE_MPI
  implicit none
  INCLUDE_MPI
  character(len=1000) :: path
  integer :: error
#ifdef FORTRAN_2008
  call MPI_Init() ! the error code is optional
#else
  call MPI_Init(error)
#endif
  call tally('MPI_Init', 0, 0)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  call messages(MPI_COMM_WORLD)
  call derived_types(MPI_COMM_WORLD)
  call collectives(MPI_COMM_WORLD)
  call communicators()
  call one_sided()
  if (command_argument_count() > 0) then
    call get_command_argument(1, path)
    call files(trim(path))
  end if
  call MPI_Finalize(error)
  call tally('MPI_Finalize', 0, 0)
  call print_tallies()
end program
