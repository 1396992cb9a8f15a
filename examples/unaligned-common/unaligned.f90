! Damps three fields, sweep by sweep; the argument is the number of sweeps. Two of the fields share a common block
! with the counter, as old codes keep their state.
program unaligned
  implicit none
  integer, parameter :: n = 2**16
  integer(4) :: sweeps
  real(8) :: pressure(n), flux(n), height(n)
  ! The counter stands first, so that everything behind it lies 4 bytes off.
  common /state/ sweeps, pressure, flux
  common /terrain/ height
  real(8), external :: total
  character(16) :: argument
  integer :: sweep

  sweeps = 5000
  call get_command_argument(1, argument)
  if (argument /= '') read (argument, *) sweeps
  call fill(pressure, n, 1013.25d0)
  call fill(flux, n, 0.5d0)
  call fill(height, n, 250d0)
  do sweep = 1, sweeps
    call damp(pressure, n, 0.999d0)
    call damp(flux, n, 0.998d0)
    call damp(height, n, 0.997d0)
  end do
  print '(3es16.8)', total(pressure, n), total(flux, n), total(height, n)
end program
