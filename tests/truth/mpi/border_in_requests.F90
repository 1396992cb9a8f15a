! A field whose borders go to the neighbour by non-blocking messages. Planted: one for each element. Cured: one for the border.
program border_in_requests
  use mpi
  implicit none
  integer, parameter :: border = 128, width = 60, steps = 12000
  integer :: ierr, rank, other, step, sweep, i, requests(2 * border)
  real(8) :: field(border, 0:width + 1), change

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  other = 1 - rank
  field = 1d0
  do step = 1, steps
    do sweep = 1, 4
      do i = 1, width
        field(:, i) = 0.25d0 * (field(:, i - 1) + 2 * field(:, i) + field(:, i + 1)) / (1 + 1d-9 * sqrt(field(:, i)))
      end do
    end do
#ifdef CURED
    call MPI_Irecv(field(1, 0), border, MPI_DOUBLE_PRECISION, other, 7, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(field(1, width), border, MPI_DOUBLE_PRECISION, other, 7, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
#else
    do i = 1, border
      call MPI_Irecv(field(i, 0), 1, MPI_DOUBLE_PRECISION, other, i, MPI_COMM_WORLD, requests(i), ierr)              ! planted: border
      call MPI_Isend(field(i, width), 1, MPI_DOUBLE_PRECISION, other, i, MPI_COMM_WORLD, requests(border + i), ierr) ! planted: border
    end do
    call MPI_Waitall(2 * border, requests, MPI_STATUSES_IGNORE, ierr) ! planted: border
#endif
  end do
  change = field(1, 1)
  call MPI_Allreduce(MPI_IN_PLACE, change, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0) print *, change
  call MPI_Finalize(ierr)
end program
