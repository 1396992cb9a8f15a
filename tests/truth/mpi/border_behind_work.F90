! The border is on its way while the inner part of the field is worked on.
program border_behind_work
  use mpi
  implicit none
  integer, parameter :: border = 2000, width = 20, steps = 2000
  integer :: ierr, rank, other, step, i, requests(2)
  real(8) :: field(border, 0:width + 1), own(border)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  other = 1 - rank
  field = 1d0
  do step = 1, steps
    own = field(:, width)
    call MPI_Irecv(field(1, 0), border, MPI_DOUBLE_PRECISION, other, 2, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(own, border, MPI_DOUBLE_PRECISION, other, 2, MPI_COMM_WORLD, requests(2), ierr)
    do i = 2, width
      field(:, i) = 0.25d0 * (field(:, i - 1) + 2 * field(:, i) + field(:, i + 1)) / (1 + 1d-9 * exp(-field(:, i)))
    end do
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
    field(:, 1) = 0.5d0 * (field(:, 0) + field(:, 2))
  end do
  if (rank == 0) print *, field(3, 3)
  call MPI_Finalize(ierr)
end program
