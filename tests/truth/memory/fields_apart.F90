! Advances a wave on a long string. Planted: each term of the equation is an array statement of its own, so that all
! arrays come from memory for each of them. Cured: the same in pieces that stay in the cache.
program fields_apart
  implicit none
  integer, parameter :: n = 20000000, steps = 48
#ifdef CURED
  integer, parameter :: piece = 8000
#else
  integer, parameter :: piece = n / 2
#endif
  real(8), allocatable :: height(:), speed(:), force(:), friction(:)
  integer :: step, from
  allocate(height(n), speed(n), force(n), friction(n))
  !$omp parallel workshare num_threads(2)
  height = 1d0
  speed = 1d-3
  force = 0d0
  friction = 0.01d0
  !$omp end parallel workshare
  do step = 1, steps
     !$omp parallel do num_threads(2) schedule(static)
     do from = 1, n, piece
        call advance(from, min(n, from + piece - 1))
     end do
     !$omp end parallel do
  end do
  print *, sum(height)
contains
  subroutine advance(from, to)
    integer, intent(in) :: from, to
    force(from:to) = -0.1d0 * height(from:to) ! planted: arrays-refetched
    force(from:to) = force(from:to) - friction(from:to) * speed(from:to) ! planted: arrays-refetched
    speed(from:to) = speed(from:to) + 0.01d0 * force(from:to) ! planted: arrays-refetched
    height(from:to) = height(from:to) + 0.01d0 * speed(from:to) ! planted: arrays-refetched
    friction(from:to) = friction(from:to) * 0.999d0 ! planted: arrays-refetched
  end subroutine
end program
