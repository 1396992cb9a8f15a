! Advances a small system by many steps: five arrays that stay in the caches of each thread, swept one after another.
program steps_in_cache
  implicit none
  integer, parameter :: n = 4000, steps = 300000
  integer :: part
  real(8) :: total
  total = 0d0
  !$omp parallel do num_threads(2) reduction(+:total)
  do part = 1, 2
     call advance(part, total)
  end do
  !$omp end parallel do
  print *, total
contains
  subroutine advance(part, total)
    integer, intent(in) :: part
    real(8), intent(inout) :: total
    real(8) :: place(n), speed(n), force(n), mass(n), work(n)
    integer :: step
    place = part
    speed = 0d0
    mass = 1d0
    work = 0d0
    do step = 1, steps
       force = -place * 0.1d0
       speed = speed + force / mass * 0.01d0
       place = place + speed * 0.01d0
       work = work + force * speed
    end do
    total = total + sum(place) + sum(work)
  end subroutine
end program
