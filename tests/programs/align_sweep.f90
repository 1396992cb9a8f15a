! Sweeps over 2^19 real*8 that lie a given number of bytes off their boundary: x(i) = i * x(i), in a routine that is told
! nothing about it. Usage: align_sweep [bytes off (4) [sweeps (500)]]. Prints the nanoseconds of
! CPU time of one element.
module sweeping
  implicit none
contains
  subroutine sweep(x, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n)
    integer :: i
    do i = 1, n
      x(i) = i * x(i)
    end do
  end subroutine
end module

program align_sweep
  use, intrinsic :: iso_c_binding
  use sweeping
  implicit none
  integer, parameter :: n = 2**19
  integer(1), target :: storage(8 * n + 64)
  real(8), pointer :: x(:)
  integer(c_intptr_t) :: base
  real(8) :: seconds(2)
  integer :: off, sweeps, k
  character(16) :: argument

  off = 4
  sweeps = 500
  call get_command_argument(1, argument)
  if (argument /= '') read (argument, *) off
  call get_command_argument(2, argument)
  if (argument /= '') read (argument, *) sweeps
  storage = 0 ! i * 0 stays 0: no element runs into infinity
  base = transfer(c_loc(storage), base)
  base = (base + 63) / 64 * 64 + off
  call c_f_pointer(transfer(base, c_null_ptr), x, [n])
  call cpu_time(seconds(1))
  do k = 1, sweeps
    call sweep(x, n)
  end do
  call cpu_time(seconds(2))
  print '(a, f10.4)', 'nanoseconds an element: ', &
    1d9 * (seconds(2) - seconds(1)) / (real(n, 8) * sweeps)
  if (any(x /= 0)) stop 1
end program
