! What the four programs share: planes of cells, and what the command line says of them.
module planes
  implicit none
  integer, parameter :: n = 1000
  integer :: plane_count = 64, iterations = 40
  real(8) :: weight = 0.5d0
  real(8), allocatable :: b(:, :, :)

contains

  ! PROGRAM [PLANES [ITERATIONS]]. Each thread touches the planes first that it works on later.
  subroutine make_planes()
    integer :: k
    call read_argument(1, plane_count)
    call read_argument(2, iterations)
    allocate (b(n, n, plane_count))
    !$omp parallel do schedule(static)
    do k = 1, plane_count
      b(:, :, k) = k
    end do
  end subroutine

  subroutine read_argument(position, value)
    integer, intent(in) :: position
    integer, intent(inout) :: value
    character(16) :: text
    call get_command_argument(position, text)
    if (text /= '') read (text, *) value
  end subroutine

  ! The table: a line of the atmosphere, some function that is dear to compute.
  real(8) elemental function table_value(i, j)
    integer, intent(in) :: i, j
    table_value = 1 / (1d0 + i + 0.5d0*j)
  end function

end module
