! A matrix in strips is transposed between two passes over it, as in a Fourier transform of two dimensions: all of it has to
! move, in one large exchange.
program transposed
  use mpi
  implicit none
  integer, parameter :: n = 512, steps = 1500
  integer :: ierr, rank, ranks, step, i, j, part
  real(8), allocatable :: strip(:, :), other(:, :)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  part = n / ranks
  allocate(strip(n, part), other(n, part))
  strip = 1d0 + rank
  do step = 1, steps
    do j = 1, part
      do i = 2, n
        strip(i, j) = 0.5d0 * strip(i, j) + 0.5d0 * cos(strip(i - 1, j))
      end do
    end do
    call MPI_Alltoall(strip, n / ranks * part, MPI_DOUBLE_PRECISION, other, n / ranks * part, MPI_DOUBLE_PRECISION, &
                      MPI_COMM_WORLD, ierr)
    strip = other
  end do
  if (rank == 0) print *, strip(1, 1)
  call MPI_Finalize(ierr)
end program
