! Ranks update a part of a table each. Planted: only the one that holds the token works. Cured: all work at once, as the
! parts do not overlap.
program token_ring
  use mpi
  implicit none
  integer, parameter :: cells = 20000, rounds = 300
  integer :: ierr, rank, size, turn, sweep, i, token
  real(8) :: part(0:cells + 1), total

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  part = rank
  token = 0
  do turn = 1, rounds
#ifndef CURED
    if (rank > 0 .or. turn > 1) &
      call MPI_Recv(token, 1, MPI_INTEGER, modulo(rank - 1, size), 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) ! planted: token
#endif
    do sweep = 1, 25
      do i = 1, cells
        part(i) = 0.25d0 * (part(i - 1) + 2 * part(i) + part(i + 1))
      end do
    end do
    token = token + 1
#ifndef CURED
    if (rank < size - 1 .or. turn < rounds) &
      call MPI_Send(token, 1, MPI_INTEGER, modulo(rank + 1, size), 5, MPI_COMM_WORLD, ierr)
#endif
  end do
  call MPI_Reduce(part(1), total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print *, total
  call MPI_Finalize(ierr)
end program
