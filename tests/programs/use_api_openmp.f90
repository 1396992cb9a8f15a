! Each OpenMP thread pins itself to a relative CPU and says where it may run.
program use_api_openmp
   use, intrinsic :: iso_c_binding, only: c_int
   use omp_lib
   use plumb
   implicit none
   integer :: thread, i
   integer(c_int) :: answers(0:3)
   interface
      integer(c_int) function sched_getcpu() bind(c)
         import :: c_int
      end function
   end interface
   integer(c_int) :: where_(0:3)

   call omp_set_dynamic(.false.)
   call plumb_region_begin('fill   ')
   !$omp parallel num_threads(4) private(thread)
   thread = omp_get_thread_num()
   answers(thread) = plumb_pin(mod(thread, plumb_cpu_count()))
   where_(thread) = sched_getcpu()
   !$omp end parallel
   call plumb_region_end('fill')
   do i = 0, 3
      print '(a,i0,a,i0,a,i0)', 'thread ', i, ': ', answers(i), ' ', where_(i)
   end do
   print '(a,l1)', 'recording: ', plumb_is_recording()
end program
