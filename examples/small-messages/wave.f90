! A wave in a periodic box, in first-order form: p' = div d, d' = grad p. The box of n x n x n points is split between the
! ranks along y; a rank's slab has one layer of its neighbours' points below and one above (its halo), y = 0 and width + 1.
! A row along x is contiguous, so the halo of a field is n such rows far from each other.
module wave
  use mpi
  implicit none
  integer, parameter :: real_kind = kind(1d0), n = 48
  integer, parameter :: along_x = 1, along_y = 2, along_z = 3
  integer :: rank, ranks, below, above, width

contains

  subroutine start()
    integer :: error
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    if (mod(n, ranks) /= 0) then
      if (rank == 0) print '(i0, a, i0, a)', ranks, ' ranks do not divide the ', n, ' points along y'
      call MPI_Abort(MPI_COMM_WORLD, 2, error)
    end if
    width = n / ranks
    below = mod(rank + ranks - 1, ranks)
    above = mod(rank + 1, ranks)
  end subroutine

  ! Adds step times the derivative of `field` to `total`. The halo must be valid where the direction is along_y.
  subroutine add_differences(field, direction, step, total)
    real(real_kind), intent(in) :: field(n, 0:width + 1, n), step
    integer, intent(in) :: direction
    real(real_kind), intent(inout) :: total(n, 0:width + 1, n)
    real(real_kind) :: half
    integer :: x, y, z
    half = step / 2
    do z = 1, n
      do y = 1, width
        select case (direction)
        case (along_x)
          total(1, y, z) = total(1, y, z) + half * (field(2, y, z) - field(n, y, z))
          do x = 2, n - 1
            total(x, y, z) = total(x, y, z) + half * (field(x + 1, y, z) - field(x - 1, y, z))
          end do
          total(n, y, z) = total(n, y, z) + half * (field(1, y, z) - field(n - 1, y, z))
        case (along_y)
          do x = 1, n
            total(x, y, z) = total(x, y, z) + half * (field(x, y + 1, z) - field(x, y - 1, z))
          end do
        case (along_z)
          do x = 1, n
            total(x, y, z) = total(x, y, z) + half * (field(x, y, 1 + mod(z, n)) - field(x, y, 1 + mod(z + n - 2, n)))
          end do
        end select
      end do
    end do
  end subroutine

  ! A bump in the middle of the box.
  subroutine fill(p)
    real(real_kind), intent(out) :: p(n, 0:width + 1, n)
    integer :: x, y, z, square
    do z = 1, n
      do y = 0, width + 1
        do x = 1, n
          square = (x - 1 - n / 2)**2 + (rank * width + y - 1 - n / 2)**2 + (z - 1 - n / 2)**2
          p(x, y, z) = exp(-square / 20._real_kind)
        end do
      end do
    end do
  end subroutine

  ! Sum of squares over all points of all ranks: what the wave keeps.
  subroutine print_energy(p, d, steps, seconds)
    real(real_kind), intent(in) :: p(n, 0:width + 1, n), d(n, 0:width + 1, n, 3), seconds
    integer, intent(in) :: steps
    real(real_kind) :: own, total
    integer :: error
    own = sum(p(:, 1:width, :)**2) + sum(d(:, 1:width, :, :)**2)
    call MPI_Reduce(own, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, error)
    if (rank == 0) print '(a, es16.9, a, i0, a, /, f0.3, a)', 'energy', total, ' after ', steps, ' steps', &
      seconds, ' seconds'
  end subroutine

  integer function steps_asked_for() result(steps)
    character(16) :: argument
    steps = 5000
    call get_command_argument(1, argument)
    if (argument /= '') read (argument, *) steps
  end function
end module
