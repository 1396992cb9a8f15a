! Each step rank 0 alone works out a spectrum that is printed at the end. Planted: in every step. Cured: in the last one.
program spectrum_on_first
  use mpi
  implicit none
  integer, parameter :: cells = 20000, steps = 2500
  integer :: ierr, rank, step, sweep, i
  real(8) :: field(0:cells + 1), power(32), mine, total

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  field = 1d0
  power = 0
  do step = 1, steps
    do sweep = 1, 4
      do i = 1, cells
        field(i) = 0.25d0 * (field(i - 1) + 2 * field(i) + field(i + 1))
      end do
    end do
#ifdef CURED
    if (rank == 0 .and. step == steps) call spectrum(field, power)
#else
    if (rank == 0) call spectrum(field, power)
#endif
    mine = field(step)
    call MPI_Allreduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  end do
  if (rank == 0) print *, total, power(1) > 0
  call MPI_Finalize(ierr)

contains

  subroutine spectrum(field, power)
    real(8), intent(in) :: field(0:)
    real(8), intent(out) :: power(:)
    integer :: wave, i
    do wave = 1, size(power)
      power(wave) = 0
      do i = 1, 600
        power(wave) = power(wave) + field(i) * cos(0.01d0 * wave * i) ! planted: spectrum
      end do
    end do
  end subroutine
end program
