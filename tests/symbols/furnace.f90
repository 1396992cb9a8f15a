! Procedures in a module, in each other, in the program, in nothing.
module heat
  implicit none
contains
  subroutine relax(a, n)
    integer, intent(in) :: n
    real, intent(inout) :: a(n)
    integer :: i
    do i = 2, n - 1
      a(i) = 0.5 * (a(i-1) + a(i+1)) + weight(i)
    end do
  contains
    real function weight(k)
      integer, intent(in) :: k
      weight = 1.0 / k
    end function
  end subroutine
end module

subroutine outside(x)
  real :: x
  x = x + 1
end subroutine

program furnace
  use heat
  real :: a(100), y
  integer :: j
  a = 1
  y = 0
  call relax(a, 100)
  call outside(y)
!$omp parallel do
  do j = 1, 100
    a(j) = a(j) * 2
  end do
  print *, sum(a), y, inner(3)
contains
  integer function inner(k)
    integer :: k
    inner = k + 1
  end function
end program
