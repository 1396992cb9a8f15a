! Loops as Fortran writes them: see kernels.h. Arrays that are arguments are apart, as the language promises.
module loops
  use iso_c_binding, only: c_double, c_size_t
  implicit none
contains

  subroutine scaled_sum(n, a, x, y) bind(c)
    integer(c_size_t), value :: n
    real(c_double), value :: a
    real(c_double), intent(in) :: x(n)
    real(c_double), intent(inout) :: y(n)
    integer(c_size_t) :: i
    do i = 1, n
      y(i) = y(i) + a * x(i)
    end do
  end subroutine

  function inner(n, x, y) bind(c) result(s)
    integer(c_size_t), value :: n
    real(c_double), intent(in) :: x(n), y(n)
    real(c_double) :: s
    integer(c_size_t) :: i
    s = 0
#ifdef CURED
    !$omp simd reduction(+:s)
#endif
    do i = 1, n
      s = s + x(i) * y(i)
    end do
  end function

  function row_sum(rows, n, m) bind(c) result(s)
    integer(c_size_t), value :: rows, n
    real(c_double), intent(in) :: m(rows, n)
    real(c_double) :: s
    integer(c_size_t) :: i
    s = 0
#ifdef CURED
    !$omp simd reduction(+:s)
    do i = 1, n
      s = s + m(i, 1) ! as if it were stored transposed
    end do
#else
    do i = 1, n
      s = s + m(1, i)
    end do
#endif
  end function

  subroutine update(m, n, a, b, c) bind(c)
    integer(c_size_t), value :: m, n
    real(c_double), intent(in) :: a(m, n), b(n)
    real(c_double), intent(inout) :: c(m)
    integer(c_size_t) :: i, k
    do k = 1, n
      do i = 1, m
        c(i) = c(i) + a(i, k) * b(k)
      end do
    end do
  end subroutine

  subroutine shaped(a, x, y)
    real(c_double), value :: a
#ifdef CURED
    real(c_double), contiguous, intent(in) :: x(:)
    real(c_double), contiguous, intent(inout) :: y(:)
#else
    real(c_double), intent(in) :: x(:)
    real(c_double), intent(inout) :: y(:)
#endif
    integer(c_size_t) :: i
    do i = 1, size(x, kind=c_size_t)
      y(i) = y(i) + a * x(i)
    end do
  end subroutine

  subroutine call_shaped(n, a, x, y) bind(c)
    integer(c_size_t), value :: n
    real(c_double), value :: a
    real(c_double), intent(in) :: x(n)
    real(c_double), intent(inout) :: y(n)
    call shaped(a, x, y)
  end subroutine

  subroutine smooth(n, x, y) bind(c)
    integer(c_size_t), value :: n
    real(c_double), intent(in) :: x(n)
    real(c_double), intent(inout) :: y(n)
    integer(c_size_t) :: i
    do i = 2, n
      y(i) = 0.5d0 * y(i - 1) + x(i)
    end do
  end subroutine
end module
