! Borders of several fields, put together into one message for each neighbour and step.
program borders_together
  use mpi
  implicit none
  integer, parameter :: border = 300, width = 24, fields = 3, steps = 12000
  integer :: ierr, rank, other, step, i, f, requests(2)
  real(8) :: field(border, 0:width + 1, fields), sent(border, fields), received(border, fields)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  other = 1 - rank
  field = 1d0
  do step = 1, steps
    do f = 1, fields
      do i = 1, width
        field(:, i, f) = 0.25d0 * (field(:, i - 1, f) + 2 * field(:, i, f) + field(:, i + 1, f)) / &
                         (1 + 1d-9 * sqrt(field(:, i, f)) + 1d-9 * exp(-field(:, i, f)))
      end do
    end do
    call MPI_Irecv(received, size(received), MPI_DOUBLE_PRECISION, other, 4, MPI_COMM_WORLD, requests(1), ierr)
    sent = field(:, width, :)
    call MPI_Isend(sent, size(sent), MPI_DOUBLE_PRECISION, other, 4, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
    field(:, 0, :) = received
  end do
  if (rank == 0) print *, field(1, 1, 1)
  call MPI_Finalize(ierr)
end program
