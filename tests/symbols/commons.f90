! A common block that puts real*4 off the boundary of the real*8 that the callee takes it for.
module constants
  implicit none
  real*8 :: table(0:9)
end module

subroutine scale(x, n)
  implicit none
  integer :: n, i
  real*8 :: x(*)
  do i = 1, n
    x(i) = i * x(i)
  end do
end subroutine

subroutine other_view
  implicit none
  integer :: head(3)
  real*4 :: tail(1022)
  common /pair/ head, tail
  tail(1) = tail(1) + head(2)
end subroutine

program commons
  use constants
  implicit none
  type point
    sequence
    integer :: a
    real*8 :: w
  end type
  integer :: k
  real*4 :: r2(1024)
  common /pair/ k, r2
  real*8 :: b(3, 2)
  common // b
  type(point), save :: points(4)
  real*4, save :: half(10)
  real*8, save :: whole(4)
  equivalence (half(3), whole(1))
  k = 1
  r2 = 1
  b = 2
  table = 1
  points%w = 2
  half(1) = 1
  whole = 3
  call scale(r2, 512)
  call other_view
  print *, r2(1), b(2, 1), points(2)%w, half(1), whole(2), table(3)
end program
