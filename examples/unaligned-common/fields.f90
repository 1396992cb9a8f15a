! What the model does with one field: each routine takes any real*8 array, wherever it lies.

subroutine fill(x, n, level)
  implicit none
  integer, intent(in) :: n
  real(8), intent(out) :: x(*)
  real(8), intent(in) :: level
  integer :: i
  do i = 1, n
    x(i) = level / i
  end do
end subroutine

subroutine damp(x, n, factor)
  implicit none
  integer, intent(in) :: n
  real(8), intent(inout) :: x(*)
  real(8), intent(in) :: factor
  integer :: i
  do i = 1, n
    x(i) = factor * x(i)
  end do
end subroutine

real(8) function total(x, n)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: x(*)
  integer :: i
  total = 0
  do i = 1, n
    total = total + x(i)
  end do
end function
